export interface RequestOptions {
  /** Aborts the request and its retries. */
  signal?: AbortSignal | undefined;
  /** Maximum time of one attempt, in milliseconds. Default: 30,000. */
  timeout?: number | undefined;
  /** Maximum number of retries of a failed request. Default: 2. */
  maxRetries?: number | undefined;
  /** Additional request headers. */
  headers?: Readonly<Record<string, string>> | undefined;
}

export interface CreateOptions extends RequestOptions {
  /**
   * Idempotency key: 1 to 255 visible ASCII characters. The service stores it for 24 hours. Default: a random key, which all attempts
   * of a call share. Set it if another call or another process may repeat the creation.
   */
  idempotencyKey?: string | undefined;
}

export interface ClientOptions extends Omit<RequestOptions, 'signal'> {
  /** Sent as `Authorization: Bearer <API key>`, only to `baseURL`. */
  apiKey: string | undefined;
  /** URL of the service without the version, such as `https://api.example.com`. */
  baseURL: string | undefined;
  /** Upper limit of the random delay before the first retry, in milliseconds. It doubles for each further retry, up to 8,000. Default: 500. */
  minRetryDelay?: number | undefined;
  /** Sends the requests. Default: the global `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}
