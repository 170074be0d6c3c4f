/** What went wrong, in terms a transport can map once; see the API's exception filter for the HTTP status of each. */
export type ErrorKind =
  'invalid' | 'unauthenticated' | 'forbidden' | 'not_found' | 'removed' | 'unprocessable' | 'rate_limited' | 'unavailable';

/** One entry of the error catalogue. `code` is lower snake case and never changes once published. */
export interface ErrorDefinition {
  readonly code: string;
  readonly kind: ErrorKind;
  /** Shown to clients unless the error is raised with a message of its own. */
  readonly message: string;
}

/** An expected failure that a client may see: its code and message are public. */
export class DomainError extends Error {
  readonly code: string;
  readonly kind: ErrorKind;

  constructor(definition: ErrorDefinition, message: string = definition.message, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DomainError';
    this.code = definition.code;
    this.kind = definition.kind;
  }
}
