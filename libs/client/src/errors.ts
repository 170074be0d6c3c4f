import type { KnownErrorCode } from './openapi.generated.js';
import { parseRetryAfter } from './retry.js';

/** A published error code, or a code of a later version of the service. */
export type ErrorCode = KnownErrorCode | (string & {});

/** Base class of the errors of this package. Arguments of a wrong type or format throw a TypeError instead. */
export class AnimalStoreError extends Error {
  /** Does not change if a bundler renames the class. */
  static readonly className: string = 'AnimalStoreError';
  override readonly name = (this.constructor as typeof AnimalStoreError).className;
}

/** Thrown if a request gets an error response, gets no complete response, or is aborted. */
export class APIError extends AnimalStoreError {
  static override readonly className: string = 'APIError';
  /** Status code of the response. Undefined without a complete response. */
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  /** Error code (docs/guides/errors.md). Undefined without a complete response, or if the body is not an error of the service. */
  readonly code: ErrorCode | undefined;
  /** `X-Request-Id` of the response, which identifies the request in the service's log. */
  readonly requestId: string | undefined;

  constructor(message: string, { cause, response, code }: { cause?: unknown; response?: Response; code?: ErrorCode | undefined } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = response?.status;
    this.headers = response?.headers;
    this.requestId = response?.headers.get('X-Request-Id') ?? undefined;
    this.code = code;
  }

  /**
   * Whether the same request may succeed later. The client retries such a request up to `maxRetries` times before it throws, but a POST
   * only with `Idempotency-Key` and a PATCH only with `If-Match`.
   */
  get retryable(): boolean {
    return this.status !== undefined && RETRYABLE_STATUSES.has(this.status);
  }

  /** Milliseconds to wait before the next attempt, from `Retry-After`. Undefined without that header. */
  get retryAfter(): number | undefined {
    return parseRetryAfter(this.headers?.get('Retry-After'), this.headers?.get('Date'));
  }
}

const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** The connection failed, or the response was incomplete, or a successful response is not one that the operation can have. */
export class APIConnectionError extends APIError {
  static override readonly className: string = 'APIConnectionError';
  override get retryable(): boolean {
    return true;
  }
}

/** There was no complete response within `timeout`, or within the rest of `totalTimeout`. */
export class APIConnectionTimeoutError extends APIConnectionError {
  static override readonly className: string = 'APIConnectionTimeoutError';
}

/** Returns a subclass. Bundlers keep classes with static members unless a function makes them. */
function named(className: string): typeof APIError {
  return class extends APIError {
    static override readonly className = className;
  };
}

/** The caller's AbortSignal ended the request. */
export const APIUserAbortError = /* @__PURE__ */ named('APIUserAbortError');
export type APIUserAbortError = APIError;

/** Status 400. */
export const BadRequestError = /* @__PURE__ */ named('BadRequestError');
export type BadRequestError = APIError;

/** Status 401: the API key is missing or invalid. */
export const AuthenticationError = /* @__PURE__ */ named('AuthenticationError');
export type AuthenticationError = APIError;

/** Status 403: the API key lacks a scope. */
export const PermissionDeniedError = /* @__PURE__ */ named('PermissionDeniedError');
export type PermissionDeniedError = APIError;

/** Status 404. */
export const NotFoundError = /* @__PURE__ */ named('NotFoundError');
export type NotFoundError = APIError;

/** Status 409: the request conflicts with the state of the resource. */
export const ConflictError = /* @__PURE__ */ named('ConflictError');
export type ConflictError = APIError;

/** Status 412: the resource has changed since its `ETag` was read. */
export const PreconditionFailedError = /* @__PURE__ */ named('PreconditionFailedError');
export type PreconditionFailedError = APIError;

/** Status 422, for example if the idempotency key was used with a different pet. */
export const UnprocessableEntityError = /* @__PURE__ */ named('UnprocessableEntityError');
export type UnprocessableEntityError = APIError;

/** Status 428: the operation requires `If-Match`. */
export const PreconditionRequiredError = /* @__PURE__ */ named('PreconditionRequiredError');
export type PreconditionRequiredError = APIError;

/** Status 429. */
export const RateLimitError = /* @__PURE__ */ named('RateLimitError');
export type RateLimitError = APIError;

/** Status 500 or above. */
export const InternalServerError = /* @__PURE__ */ named('InternalServerError');
export type InternalServerError = APIError;

const ERROR_CLASSES: Readonly<Record<number, typeof APIError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  412: PreconditionFailedError,
  422: UnprocessableEntityError,
  428: PreconditionRequiredError,
  429: RateLimitError,
};

/** Returns the error for a response. The body may be anything, because a proxy may have sent it. */
export function errorOf(response: Response, text: string): APIError {
  const { status } = response;
  const { code, message } = errorBody(text);
  const ErrorClass = ERROR_CLASSES[status] ?? (status >= 500 ? InternalServerError : APIError);
  return new ErrorClass([status, code === undefined ? response.statusText : `${code}: ${message ?? ''}`].join(' ').trim(), {
    response,
    code,
  });
}

function errorBody(text: string): { code?: string; message?: string } {
  try {
    const body = JSON.parse(text) as { code?: unknown; message?: unknown } | null;
    if (typeof body?.code === 'string' && typeof body.message === 'string') return { code: body.code, message: body.message };
  } catch {
    // The body is not from the service.
  }
  return {};
}
