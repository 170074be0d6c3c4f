import type { APIError } from './errors.cjs';
import type { ResponseCache } from './memory-cache.cjs';
import type { operations } from './openapi.generated.cjs';
/** One attempt of a request. All hooks of an attempt get the same object. */
export interface RequestAttempt {
    /** Name of the operation in the OpenAPI document. */
    readonly operation: keyof operations;
    readonly method: string;
    readonly url: string;
    /** The request headers. `onRequest` can add headers such as `traceparent`. */
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
/** Functions for logging and tracing. If a hook throws, the request fails with that error. */
export interface Hooks {
    /** Called before each attempt. */
    onRequest?(request: RequestAttempt): void | Promise<void>;
    /** Called for each complete response, including error responses. */
    onResponse?(request: RequestAttempt, response: ResponseInfo): void;
    /** Called for each failed attempt. `retryInMs` is undefined if there is no further attempt. */
    onError?(request: RequestAttempt, error: APIError, retryInMs: number | undefined): void;
}
export interface RequestOptions {
    /** Aborts the request and its retries. */
    signal?: AbortSignal | undefined;
    /** Maximum time of one attempt, in milliseconds. Default: 30,000. */
    timeout?: number | undefined;
    /** Maximum time of all attempts and the delays between them, in milliseconds. Default: unlimited. */
    totalTimeout?: number | undefined;
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
    /** Upper limit of the random delay before the first retry, in milliseconds. It doubles for each further retry. Default: 500. */
    minRetryDelay?: number | undefined;
    /** Upper limit of the random delay before any retry, in milliseconds. `Retry-After` may be longer. Default: 8,000. */
    maxRetryDelay?: number | undefined;
    /** Cache for responses to GET requests. They are revalidated before each use. Default: none. */
    cache?: ResponseCache | undefined;
    hooks?: Hooks | undefined;
    /** Receives one warning per process for each deprecated operation. Default: `console`. */
    logger?: {
        warn(message: string): void;
    } | undefined;
    /** Sends the requests. Default: the global `fetch`. */
    fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}
