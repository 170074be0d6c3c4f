import { redactKeys } from '@animal-store/access-domain';
import type { PublicUrl } from '@animal-store/http-kit';
import { DomainError, type ErrorDefinition, type ErrorKind } from '@animal-store/kernel';
import { HttpError, type HttpErrorDefinition } from './http-errors.js';

/** The body of every error response. */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly status: number;
}

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

export function errorBody(error: DomainError | HttpError): ErrorBody {
  // The message may contain names of members and parameters from the request, and a client may have put an API key into such a name.
  const message = redactKeys(error.message);
  return error instanceof DomainError
    ? { code: error.code, message, status: STATUS_OF_KIND[error.kind] }
    : { code: error.definition.code, message, status: error.definition.status };
}

/** Returns the error body with the default message of a definition. */
export function defaultErrorBody(definition: ErrorDefinition | HttpErrorDefinition): ErrorBody {
  return errorBody('kind' in definition ? new DomainError(definition) : new HttpError(definition));
}

/** Returns the `Link` header (RFC 8288) with the URL of the explanation of an error code, or undefined without DOCS_URL. */
export function helpLink({ docs }: Pick<PublicUrl, 'docs'>, code: string): string | undefined {
  return docs === undefined ? undefined : `<${docs}/guides/errors.html#${code}>; rel="help"`;
}
