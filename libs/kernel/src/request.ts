import type { ErrorDefinition } from './domain-error.js';

/** The sender of a request: the client and its API key. */
export interface Principal {
  readonly clientId: bigint;
  readonly clientName: string;
  readonly keyId: bigint;
  readonly scopes: readonly string[];
  /** The client's limit in requests per minute; undefined if the service's limit applies. */
  readonly rateLimit: number | undefined;
}

/** Published in the OpenAPI document. */
export const IDEMPOTENCY_KEY_LIFETIME_HOURS = 24;

/** Identifies repetitions of a request. The client chooses the key. */
export interface IdempotencyKey {
  /** The client, not its API key, so the rotation of an API key has no effect. */
  readonly clientId: bigint;
  readonly key: string;
}

/** What a command returned, to this request or to an earlier one with the same key. */
export interface Outcome<Result> {
  readonly result: Result;
  /** Whether an earlier request with the same key had the effect. */
  readonly replayed: boolean;
}

export const IDEMPOTENCY_KEY_REUSED = {
  code: 'idempotency_key_reused',
  kind: 'unprocessable',
  message: 'The Idempotency-Key was already used with a different body; use a new key.',
} as const satisfies ErrorDefinition;

/**
 * Checks the If-Match of a request (RFC 9110, section 13.1.1) against the current value: the same one that the GET returns.
 * Throws DomainError PRECONDITION_FAILED if its entity tag is not in the header. Does nothing without the header.
 */
export type Precondition = (current: object) => void;

/** Thrown if a precondition is false or not supported. The message documents all operations, so give each error its own message. */
export const PRECONDITION_FAILED = {
  code: 'precondition_failed',
  kind: 'precondition_failed',
  message: 'The condition in If-Match is false, or the operation does not support If-Match or If-None-Match.',
} as const satisfies ErrorDefinition;

export const PRECONDITION_REQUIRED = {
  code: 'precondition_required',
  kind: 'precondition_required',
  message: 'The If-Match header is required; send the ETag of the resource.',
} as const satisfies ErrorDefinition;
