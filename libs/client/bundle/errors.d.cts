import type { KnownErrorCode } from './openapi.generated.cjs';
/** A published error code, or a code of a later version of the service. */
export type ErrorCode = KnownErrorCode | (string & {});
/** Base class of the errors of this package. Arguments of a wrong type or format throw a TypeError instead. */
export declare class AnimalStoreError extends Error {
    /** Does not change if a bundler renames the class. */
    static readonly className: string;
    readonly name: string;
}
/** Thrown if a request gets an error response, gets no complete response, or is aborted. */
export declare class APIError extends AnimalStoreError {
    static readonly className: string;
    /** Status code of the response. Undefined without a complete response. */
    readonly status: number | undefined;
    readonly headers: Headers | undefined;
    /** Error code (docs/guides/errors.md). Undefined without a complete response, or if the body is not an error of the service. */
    readonly code: ErrorCode | undefined;
    /** `X-Request-Id` of the response, which identifies the request in the service's log. */
    readonly requestId: string | undefined;
    constructor(message: string, { cause, response, code }?: {
        cause?: unknown;
        response?: Response;
        code?: ErrorCode | undefined;
    });
    /**
     * Whether the same request may succeed later. The client retries such a request up to `maxRetries` times before it throws, but a POST
     * only with `Idempotency-Key` and a PATCH only with `If-Match`.
     */
    get retryable(): boolean;
    /** Milliseconds to wait before the next attempt, from `Retry-After`. Undefined without that header. */
    get retryAfter(): number | undefined;
}
/** The connection failed, or the response was incomplete, or a successful response is not one that the operation can have. */
export declare class APIConnectionError extends APIError {
    static readonly className: string;
    get retryable(): boolean;
}
/** There was no complete response within `timeout`, or within the rest of `totalTimeout`. */
export declare class APIConnectionTimeoutError extends APIConnectionError {
    static readonly className: string;
}
/** The caller's AbortSignal ended the request. */
export declare const APIUserAbortError: typeof APIError;
export type APIUserAbortError = APIError;
/** Status 400. */
export declare const BadRequestError: typeof APIError;
export type BadRequestError = APIError;
/** Status 401: the API key is missing or invalid. */
export declare const AuthenticationError: typeof APIError;
export type AuthenticationError = APIError;
/** Status 403: the API key lacks a scope. */
export declare const PermissionDeniedError: typeof APIError;
export type PermissionDeniedError = APIError;
/** Status 404. */
export declare const NotFoundError: typeof APIError;
export type NotFoundError = APIError;
/** Status 409: the request conflicts with the state of the resource. */
export declare const ConflictError: typeof APIError;
export type ConflictError = APIError;
/** Status 412: the resource has changed since its `ETag` was read. */
export declare const PreconditionFailedError: typeof APIError;
export type PreconditionFailedError = APIError;
/** Status 422, for example if the idempotency key was used with a different pet. */
export declare const UnprocessableEntityError: typeof APIError;
export type UnprocessableEntityError = APIError;
/** Status 428: the operation requires `If-Match`. */
export declare const PreconditionRequiredError: typeof APIError;
export type PreconditionRequiredError = APIError;
/** Status 429. */
export declare const RateLimitError: typeof APIError;
export type RateLimitError = APIError;
/** Status 500 or above. */
export declare const InternalServerError: typeof APIError;
export type InternalServerError = APIError;
/** Returns the error for a response. The body may be anything, because a proxy may have sent it. */
export declare function errorOf(response: Response, text: string): APIError;
