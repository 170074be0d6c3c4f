import type { ErrorDefinition } from './domain-error.js';

/** Published in the OpenAPI document. */
export const IDEMPOTENCY_KEY_LIFETIME_HOURS = 24;

/** Identifies repetitions of a request. The client chooses the key. */
export interface IdempotencyKey {
  /** The client, not its API key, so the rotation of an API key has no effect. */
  readonly clientId: bigint;
  readonly key: string;
}

/** Thrown by operations that accept an Idempotency-Key. */
export const IDEMPOTENCY_KEY_REUSED = {
  code: 'idempotency_key_reused',
  kind: 'unprocessable',
  message: 'The Idempotency-Key was already used with a different body; use a new key.',
} as const satisfies ErrorDefinition;
