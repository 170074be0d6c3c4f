/** Published in the OpenAPI document. */
export const IDEMPOTENCY_KEY_LIFETIME_HOURS = 24;

/** What makes repetitions of one request recognisable: a key that its client chose. */
export interface IdempotencyKey {
  /** The client, not its API key: a rotation changes nothing. */
  readonly clientId: bigint;
  readonly key: string;
}
