import { API_KEY_NOT_FOUND } from '@animal-store/access-domain';
import { DomainError, type ErrorKind } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import { errorBody } from './error-response.js';
import { defaultErrorBody, SHARED_ERRORS } from './error-catalogue.js';
import { HTTP_ERRORS, HttpError } from './http-errors.js';

const SENTENCE = /^[A-Z].* .*\.$/;
const entries = (errors: readonly { readonly code: string; readonly status: number }[]) =>
  errors.map(({ code, status }) => `${String(status)} ${code}`);

describe('the shared errors', () => {
  it('of every operation', () => {
    expect(entries(SHARED_ERRORS.everyOperation)).toEqual([
      '400 invalid_request',
      '401 missing_api_key',
      '401 invalid_api_key',
      '403 insufficient_scope',
      '408 request_timeout',
      '412 precondition_failed',
      '414 uri_too_long',
      '417 expectation_failed',
      '429 rate_limited',
      '431 headers_too_large',
      '500 internal_error',
      '503 service_unavailable',
    ]);
  });

  it('of some requests', () => {
    expect(entries(SHARED_ERRORS.withBody)).toEqual(['400 malformed_json', '413 payload_too_large', '415 unsupported_media_type']);
    expect(entries(SHARED_ERRORS.withPatch)).toEqual(entries(SHARED_ERRORS.withBody));
    expect(entries(SHARED_ERRORS.deprecated)).toEqual(['410 operation_removed']);
    expect(entries(SHARED_ERRORS.outsideOperations)).toEqual(['404 route_not_found', '405 method_not_allowed']);
    // Written to the socket, before there is a request.
    expect(entries([defaultErrorBody(HTTP_ERRORS.malformedRequest)])).toEqual(['400 invalid_request']);
  });

  it.each([...Object.values(SHARED_ERRORS).flat(), ...Object.values(HTTP_ERRORS)])('have a message: $code', ({ message }) => {
    expect(message).toMatch(SENTENCE);
  });
});

describe('an error body', () => {
  it.each<[ErrorKind, number]>([
    ['invalid', 400],
    ['unauthenticated', 401],
    ['forbidden', 403],
    ['not_found', 404],
    ['conflict', 409],
    ['removed', 410],
    ['precondition_failed', 412],
    ['unprocessable', 422],
    ['precondition_required', 428],
    ['rate_limited', 429],
    ['unavailable', 503],
  ])('of the kind %s has the status %i', (kind, status) => {
    expect(errorBody(new DomainError({ code: 'late', kind, message: 'Too late.' }))).toEqual({
      code: 'late',
      message: 'Too late.',
      status,
    });
  });

  it('has the message of the error, or that of its definition', () => {
    expect(errorBody(new HttpError(HTTP_ERRORS.malformedJson, 'A comma is missing.'))).toEqual({
      code: 'malformed_json',
      message: 'A comma is missing.',
      status: 400,
    });
    expect(defaultErrorBody(HTTP_ERRORS.malformedJson).message).toBe(HTTP_ERRORS.malformedJson.message);
    expect(defaultErrorBody(API_KEY_NOT_FOUND)).toEqual({ code: 'api_key_not_found', message: API_KEY_NOT_FOUND.message, status: 404 });
  });

  it('contains no API key', () => {
    const key = `ast_test_${'a'.repeat(43)}`;
    for (const error of [
      new DomainError({ code: 'invalid_request', kind: 'invalid', message: `"${key}" is not a known member` }),
      new HttpError(HTTP_ERRORS.malformedJson, `${key} is not JSON`),
    ]) {
      expect(errorBody(error).message).not.toContain(key);
    }
  });

  it('is thrown as an error with a name', () => {
    expect(String(new HttpError(HTTP_ERRORS.uriTooLong))).toBe(`HttpError: ${HTTP_ERRORS.uriTooLong.message}`);
  });
});
