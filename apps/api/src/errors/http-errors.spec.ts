import { API_KEY_NOT_FOUND } from '@animal-store/access-domain';
import { DomainError, type ErrorKind } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import { defaultErrorBody, errorBody, HTTP_ERRORS, HttpError } from './http-errors.js';

const SENTENCE = /^[A-Z].* .*\.$/;

it.each(Object.values(HTTP_ERRORS))('an error of HTTP has a message: $code', ({ message }) => {
  expect(message).toMatch(SENTENCE);
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
