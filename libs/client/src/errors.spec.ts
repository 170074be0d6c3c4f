import { describe, expect, it } from '@jest/globals';
import { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError, errorOf } from './errors.js';

const BODY = '{"code":"rate_limited","message":"Too many requests.","status":429}';

describe('the error of a response', () => {
  it.each([
    ...[300, 304, 400, 401, 403, 404, 409, 410, 412, 422, 428, 499, 501, 505].map((status) => [status, false] as const),
    ...[408, 429, 500, 502, 503, 504].map((status) => [status, true] as const),
  ])('with status %s is retryable: %s', (status, retryable) => {
    const error = errorOf(new Response(null, { status }), BODY);
    expect(error).toBeInstanceOf(APIError);
    expect({ ...error, retryable: error.retryable }).toMatchObject({ name: 'APIError', status, retryable, code: 'rate_limited' });
    expect(error.message).toBe(`${status} rate_limited: Too many requests.`);
    expect('cause' in error).toBe(false);
  });

  it('has the headers, the request id and the time to wait', () => {
    const response = new Response('', { status: 429, headers: { 'X-Request-Id': 'r-1', 'Retry-After': '30' } });
    const error = errorOf(response, BODY);
    expect(error).toMatchObject({ headers: response.headers, requestId: 'r-1', retryAfter: 30_000 });
    const other = errorOf(new Response('', { status: 429 }), BODY);
    expect([other.requestId, other.retryAfter]).toEqual([undefined, undefined]);
  });

  it.each(['0', '7', '9'.repeat(400)])('has the time to wait of Retry-After: %s', (seconds) => {
    const response = new Response('', { status: 429, headers: { 'Retry-After': seconds } });
    expect(errorOf(response, BODY).retryAfter).toBe(Number(seconds) * 1000);
  });

  it.each(['', 'soon', '-5', '1.5', '1e3', 'Infinity', 'Sun, 22 Nov 2026 12:00:30 GMT'])(
    'has no time to wait of Retry-After: %j',
    (value) => {
      expect(errorOf(new Response('', { status: 429, headers: { 'Retry-After': value } }), BODY).retryAfter).toBeUndefined();
    },
  );

  it.each(['', '<html>', 'null', '[]', '"x"', '{"code":"x"}', '{"message":"x"}', '{"code":7,"message":"x"}', '{"code":"x","message":7}'])(
    'has no code if a proxy sent the body %j',
    (body) => {
      const error = errorOf(new Response(null, { status: 502, statusText: 'Bad Gateway' }), body);
      expect([error.code, error.message]).toEqual([undefined, '502 Bad Gateway']);
      expect(errorOf(new Response(null, { status: 502 }), body).message).toBe('502');
    },
  );
});

describe('an error without a response', () => {
  it.each([
    ['APIConnectionError', APIConnectionError, APIError, true],
    ['APIConnectionTimeoutError', APIConnectionTimeoutError, APIConnectionError, true],
    ['APIUserAbortError', APIUserAbortError, APIError, false],
  ] as const)('is %s and has a cause', (name, ErrorClass, Base, retryable) => {
    const cause = new Error('reset');
    const error = new ErrorClass('failed', { cause });
    expect(error).toBeInstanceOf(Base);
    expect([error.name, error.message, error.cause, error.retryable]).toEqual([name, 'failed', cause, retryable]);
    const { status, headers, code, requestId, retryAfter } = error;
    expect({ status, headers, code, requestId, retryAfter }).toEqual({});
    expect('cause' in new ErrorClass('failed')).toBe(false);
  });
});
