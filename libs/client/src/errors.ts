import type { KnownErrorCode } from './openapi.generated.js';

/** A published error code, or a code of a later version of the service. */
export type ErrorCode = KnownErrorCode | (string & {});

const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/**
 * Thrown if a request gets an error response, gets no complete response, or is aborted. Arguments of a wrong type or format throw a
 * TypeError instead.
 */
export class APIError extends Error {
  override readonly name: string = 'APIError';
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

  /** Whether the same request may succeed later. The client retries such a request up to `maxRetries` times before it throws. */
  get retryable(): boolean {
    return this.status !== undefined && RETRYABLE_STATUSES.has(this.status);
  }

  /** Milliseconds to wait before the next attempt, from `Retry-After`. Undefined if the header is not a number of seconds. */
  get retryAfter(): number | undefined {
    const seconds = this.headers?.get('Retry-After') ?? '';
    return /^\d+$/.test(seconds) ? Number(seconds) * 1000 : undefined;
  }
}

/** The connection failed, the service redirected, the response was incomplete, or a success is not one that the operation can have. */
export class APIConnectionError extends APIError {
  override readonly name: string = 'APIConnectionError';
  override get retryable(): boolean {
    return true;
  }
}

/** There was no complete response within `timeout`. */
export class APIConnectionTimeoutError extends APIConnectionError {
  override readonly name = 'APIConnectionTimeoutError';
}

/** The caller's AbortSignal ended the request. */
export class APIUserAbortError extends APIError {
  override readonly name = 'APIUserAbortError';
}

/** Returns the error for a response. The body may be anything, because a proxy may have sent it. */
export function errorOf(response: Response, text: string): APIError {
  const { code, message } = errorBody(text);
  const detail = code === undefined ? response.statusText : `${code}: ${message ?? ''}`;
  return new APIError(`${response.status} ${detail}`.trim(), { response, code });
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
