/** Who sends a request: the client, and the key it uses today. */
export interface Principal {
  readonly clientId: bigint;
  readonly clientName: string;
  readonly keyId: bigint;
  readonly scopes: readonly string[];
  /** Of the client, in requests per minute; undefined for the limit of the service. */
  readonly rateLimit: number | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the authentication guard; undefined on a public route. */
    principal: Principal | undefined;
  }
}
