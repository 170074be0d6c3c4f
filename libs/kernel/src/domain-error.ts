/** Category of an error. The API's exception filter maps each one to an HTTP status. */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'removed'
  | 'precondition_failed'
  | 'unprocessable'
  | 'precondition_required'
  | 'rate_limited'
  | 'unavailable';

/** An entry of the error catalogue. `code` is in lower snake case and never changes once published. */
export interface ErrorDefinition {
  readonly code: string;
  readonly kind: ErrorKind;
  /** The default message, which clients see. */
  readonly message: string;
}

/** An expected error. Clients see its code and message. */
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
