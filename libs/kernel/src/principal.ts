/** The sender of a request: the client and its API key. */
export interface Principal {
  readonly clientId: bigint;
  readonly clientName: string;
  readonly keyId: bigint;
  readonly scopes: readonly string[];
  /** The client's limit in requests per minute; undefined if the service's limit applies. */
  readonly rateLimit: number | undefined;
}
