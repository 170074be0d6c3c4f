import { INSUFFICIENT_SCOPE, redactKeys } from '@animal-store/access-domain';
import { type AcceptedBytes, INVALID_REQUEST, type PublicUrl } from '@animal-store/http-kit';
import { DomainError, type ErrorDefinition, type ErrorKind } from '@animal-store/kernel';

/** The body of every error response. */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly status: number;
}

export const BODY_LIMIT_BYTES = 64 * 1024;
export const MAX_TARGET_LENGTH = 4096;
export const HEADER_SECTION_BYTES = 8 * 1024;
export const MAX_HEADER_FIELDS = 64;

/** Errors of the HTTP layer. Together with the errors of the contexts they are the error catalogue. */
export const HTTP_ERRORS = {
  malformedJson: { code: 'malformed_json', status: 400, message: 'The body is not well-formed JSON in UTF-8.' },
  malformedRequest: { code: 'invalid_request', status: 400, message: 'The request is not well-formed HTTP.' },
  routeNotFound: { code: 'route_not_found', status: 404, message: 'No resource has this path.' },
  methodNotAllowed: {
    code: 'method_not_allowed',
    status: 405,
    message: 'This resource does not support the method; the Allow header lists the supported methods.',
  },
  requestTimeout: { code: 'request_timeout', status: 408, message: 'The request did not arrive in time.' },
  payloadTooLarge: { code: 'payload_too_large', status: 413, message: `The body is larger than ${String(BODY_LIMIT_BYTES)} bytes.` },
  uriTooLong: { code: 'uri_too_long', status: 414, message: `The request target is longer than ${String(MAX_TARGET_LENGTH)} characters.` },
  unsupportedMediaType: {
    code: 'unsupported_media_type',
    status: 415,
    message: 'The body must be application/json in UTF-8 without a Content-Encoding.',
  },
  unsupportedPatch: {
    code: 'unsupported_media_type',
    status: 415,
    message: 'The body must be application/merge-patch+json or application/json in UTF-8 without a Content-Encoding.',
  },
  expectationFailed: { code: 'expectation_failed', status: 417, message: 'The Expect header must be 100-continue.' },
  headersTooLarge: {
    code: 'headers_too_large',
    status: 431,
    message: `The header section is larger than ${String(HEADER_SECTION_BYTES)} bytes or has more than ${String(MAX_HEADER_FIELDS)} fields.`,
  },
  internalError: {
    code: 'internal_error',
    status: 500,
    message: 'Internal error; include the X-Request-Id header when you report it.',
  },
} as const satisfies Record<string, ErrorBody>;

/** The media type of a JSON merge patch (RFC 7396). PATCH also accepts JSON, with the same meaning. */
export const MERGE_PATCH = 'application/merge-patch+json';
/** Accept-Patch of a PATCH that is rejected for its media type, and of OPTIONS (RFC 5789, section 3.1). */
export const ACCEPT_PATCH = `${MERGE_PATCH}, application/json`;

/** Returns the errors for a body that a route with `@ReceivesBytes` does not accept. */
export const errorsOfBytes = ({ types, maxBytes }: AcceptedBytes) => ({
  payloadTooLarge: { ...HTTP_ERRORS.payloadTooLarge, message: `The body is larger than ${String(maxBytes)} bytes.` },
  unsupportedMediaType: {
    ...HTTP_ERRORS.unsupportedMediaType,
    message: `The body must be ${types.join(' or ')} without a Content-Encoding.`,
  },
});

export const RETRY_AFTER_SECONDS = '1';

export const SERVICE_UNAVAILABLE = {
  code: 'service_unavailable',
  kind: 'unavailable',
  message: 'The service is temporarily unavailable; try again shortly.',
} as const satisfies ErrorDefinition;

export const RATE_LIMITED = {
  code: 'rate_limited',
  kind: 'rate_limited',
  message: 'Too many requests; retry after the number of seconds in the Retry-After header.',
} as const satisfies ErrorDefinition;

/** Thrown if a request is rejected before a use case runs. */
export class HttpError extends Error {
  constructor(
    readonly definition: ErrorBody,
    message: string = definition.message,
  ) {
    super(message);
    this.name = 'HttpError';
  }
}

/** The error that a request gets before a use case runs: rejected, shed, limited or timed out. */
export type RequestError = DomainError | HttpError;

const STATUS_OF_KIND: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  removed: 410,
  precondition_failed: 412,
  unprocessable: 422,
  precondition_required: 428,
  rate_limited: 429,
  unavailable: 503,
};

export function errorBody(error: RequestError): ErrorBody {
  // The message may contain names of members and parameters from the request, and a client may have put an API key into such a name.
  const message = redactKeys(error.message);
  return error instanceof DomainError
    ? { code: error.code, message, status: STATUS_OF_KIND[error.kind] }
    : { code: error.definition.code, message, status: error.definition.status };
}

export function defaultErrorBody(definition: ErrorDefinition | ErrorBody): ErrorBody {
  return errorBody('kind' in definition ? new DomainError(definition) : new HttpError(definition));
}

/** Returns the `Link` header (RFC 8288) with the URL of the explanation of an error code, or undefined without DOCS_URL. */
export function helpLink({ docs }: Pick<PublicUrl, 'docs'>, code: string): string | undefined {
  return docs === undefined ? undefined : `<${docs}/guides/errors.html#${code}>; rel="help"`;
}

/** Errors that Nest can throw, by their status. */
const ERRORS_OF_NEST = [INVALID_REQUEST, INSUFFICIENT_SCOPE, RATE_LIMITED, SERVICE_UNAVAILABLE, ...Object.values(HTTP_ERRORS)];

/** Returns the error of the catalogue for the status of a Nest HttpException. Its own message is dropped, because it may contain internals. */
export function errorOfStatus(status: number): HttpError {
  const known = ERRORS_OF_NEST.map(defaultErrorBody).find((error) => error.status === status);
  if (known) return new HttpError(known);
  return new HttpError(status < 400 || status >= 500 ? HTTP_ERRORS.internalError : { ...defaultErrorBody(INVALID_REQUEST), status });
}
