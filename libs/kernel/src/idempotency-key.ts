import type { ErrorDefinition } from './domain-error.js';

/** Published in the OpenAPI document. */
export const IDEMPOTENCY_KEY_LIFETIME_HOURS = 24;

/** What makes repetitions of one request recognisable: a key that its client chose. */
export interface IdempotencyKey {
  /** The client, not its API key: a rotation changes nothing. */
  readonly clientId: bigint;
  readonly key: string;
}

/** Every operation that takes an Idempotency-Key throws it. */
export const IDEMPOTENCY_KEY_REUSED = {
  code: 'idempotency_key_reused',
  kind: 'unprocessable',
  message: 'The Idempotency-Key was used with a different body.',
} as const satisfies ErrorDefinition;
