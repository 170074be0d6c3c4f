import type { APIError } from './errors.js';
import type { ResponseCache } from './memory-cache.js';
import type { operations } from './openapi.generated.js';

/** One attempt of a request, the same object for every hook that is called for it. */
export interface RequestAttempt {
  /** Name of the operation in the OpenAPI document. */
  readonly operation: keyof operations;
  readonly method: string;
  readonly url: string;
  /** The request headers. `onRequest` may add others, such as `traceparent`. */
  readonly headers: Headers;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

export interface ResponseInfo {
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | undefined;
  readonly durationMs: number;
}

/** Functions for logging and tracing. An error that one throws ends the request. */
export interface Hooks {
  /** Called before each attempt. */
  onRequest?(request: RequestAttempt): void | Promise<void>;
  /** Called for each complete response, error responses included. */
  onResponse?(request: RequestAttempt, response: ResponseInfo): void;
  /** Called for each failed attempt. `retryInMs` is undefined if there is no further attempt. */
  onError?(request: RequestAttempt, error: APIError, retryInMs: number | undefined): void;
}

export interface RequestOptions {
  /** Aborts the request and its retries. */
  signal?: AbortSignal | undefined;
  /** Milliseconds until an attempt fails. Default: 30,000. */
  timeout?: number | undefined;
  /** Milliseconds for all attempts of a request and the time between them. Default: unlimited. */
  totalTimeout?: number | undefined;
  /** How often a failed request is retried. Default: 2. */
  maxRetries?: number | undefined;
  /** Further request headers. */
  headers?: Readonly<Record<string, string>> | undefined;
}

export interface CreateOptions extends RequestOptions {
  /**
   * Identifies the creation for 24 hours: 1 to 255 visible ASCII characters. Default: random, so every retry of a call has the same
   * key. Set it to make a creation safe that another call, or another process, repeats.
   */
  idempotencyKey?: string | undefined;
}

export interface ClientOptions extends Omit<RequestOptions, 'signal'> {
  /** Sent as `Authorization: Bearer <API key>`, and to `baseURL` only. */
  apiKey: string | undefined;
  /** URL of the service without the version, such as `https://api.example.com`. */
  baseURL: string | undefined;
  /** Upper limit of the random delay before the first retry, in milliseconds. It doubles for each further one. Default: 500. */
  minRetryDelay?: number | undefined;
  /** Upper limit of the random delay before any retry, in milliseconds. `Retry-After` may be longer. Default: 8,000. */
  maxRetryDelay?: number | undefined;
  /** Caches the responses to GET requests, which are revalidated before each use. Default: none. */
  cache?: ResponseCache | undefined;
  hooks?: Hooks | undefined;
  /** Gets one warning per process for each deprecated operation. Default: `console`. */
  logger?: { warn(message: string): void } | undefined;
  /** Default: the global `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}
