import { INSUFFICIENT_SCOPE, INVALID_API_KEY, MISSING_API_KEY } from '@animal-store/access-domain';
import { INVALID_REQUEST } from '@animal-store/http-contract';
import { DomainError, type ErrorDefinition, PRECONDITION_FAILED } from '@animal-store/kernel';
import { type ErrorBody, errorBody } from './error-response.js';
import { HTTP_ERRORS, HttpError, type HttpErrorDefinition, OPERATION_REMOVED, RATE_LIMITED, SERVICE_UNAVAILABLE } from './http-errors.js';

/** Returns the error body with the default message of a definition. */
export function defaultErrorBody(definition: ErrorDefinition | HttpErrorDefinition): ErrorBody {
  return errorBody('kind' in definition ? new DomainError(definition) : new HttpError(definition));
}

const definitions = (...list: (ErrorDefinition | HttpErrorDefinition)[]): readonly ErrorBody[] => list.map(defaultErrorBody);

/** Errors of every operation, of operations with a body or a patch, of deprecated operations, and of requests outside the operations. */
export const SHARED_ERRORS = {
  everyOperation: definitions(
    INVALID_REQUEST,
    MISSING_API_KEY,
    INVALID_API_KEY,
    INSUFFICIENT_SCOPE,
    HTTP_ERRORS.requestTimeout,
    PRECONDITION_FAILED,
    HTTP_ERRORS.uriTooLong,
    HTTP_ERRORS.expectationFailed,
    RATE_LIMITED,
    HTTP_ERRORS.headersTooLarge,
    HTTP_ERRORS.internalError,
    SERVICE_UNAVAILABLE,
  ),
  withBody: definitions(HTTP_ERRORS.malformedJson, HTTP_ERRORS.payloadTooLarge, HTTP_ERRORS.unsupportedMediaType),
  withPatch: definitions(HTTP_ERRORS.malformedJson, HTTP_ERRORS.payloadTooLarge, HTTP_ERRORS.unsupportedPatch),
  deprecated: definitions(OPERATION_REMOVED),
  outsideOperations: definitions(HTTP_ERRORS.routeNotFound, HTTP_ERRORS.methodNotAllowed),
} as const;
