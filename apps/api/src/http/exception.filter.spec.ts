import { API_KEY_NOT_FOUND } from '@animal-store/access-domain';
import { INVALID_REQUEST, PublicUrl } from '@animal-store/http-kit';
import { DomainError, type ErrorKind, PRECONDITION_FAILED } from '@animal-store/kernel';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { BadRequestException, ConflictException, HttpException, NotFoundException } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { pino } from 'pino';
import { defaultErrorBody, errorBody, HTTP_ERRORS, HttpError, RATE_LIMITED, SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import { ApiExceptionFilter } from './exception.filter.js';

const ROUTES = { allowedMethods: (url: string) => (url === '/v1/pets' ? 'GET, POST' : undefined) };
const lines: Record<string, unknown>[] = [];
const logger = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
let filter: ApiExceptionFilter;

beforeEach(() => {
  lines.length = 0;
  filter = new ApiExceptionFilter(ROUTES, new PublicUrl('https://store.test', 'https://docs.test'), logger);
});

/** Returns the response to a request whose handler throws. */
function respondTo(
  exception: unknown,
  { url = '/v1/pets', method = 'GET', is404 = false, headerViolations = undefined as string[] | undefined } = {},
) {
  const request = { id: 'r1', url, method, is404, headerViolations, errorCode: undefined };
  const headers: Record<string, string> = { etag: '"x"', link: '</v1/pets?cursor=x>; rel="next"' };
  const rawHeaders = new Set(['content-disposition']);
  const response: { status?: number; text?: string } = {};
  let serialise: (body: unknown) => string = () => 'not serialised';
  const reply = {
    header: (name: string, value: string) => reply.headers({ [name]: value }),
    headers: (added: Record<string, string>) => (Object.assign(headers, added), reply),
    getHeaders: () => headers,
    removeHeader: (name: string) => (Reflect.deleteProperty(headers, name), reply),
    raw: { headersSent: false, removeHeader: (name: string) => void rawHeaders.delete(name) },
    code: (status: number) => ((response.status = status), reply),
    serializer: (serializer: typeof serialise) => ((serialise = serializer), reply),
    send: (body: unknown) => ((response.text = serialise(body)), reply),
  };
  filter.catch(exception, new ExecutionContextHost([request, reply]));
  expect(rawHeaders).toEqual(new Set());
  return { ...response, headers, body: JSON.parse(response.text ?? '') as unknown, loggedCode: request.errorCode };
}

const errorWith = (code: string, message = 'lost') => Object.assign(new Error(message), { code });
const internalError = { status: 500, loggedCode: 'internal_error' };

describe('the response', () => {
  it('to an expected error has its code, and is not cached', () => {
    expect(respondTo(new DomainError(INVALID_REQUEST, 'limit must be an integer'))).toEqual({
      status: 400,
      text: '{"code":"invalid_request","message":"limit must be an integer","status":400}',
      body: { code: 'invalid_request', message: 'limit must be an integer', status: 400 },
      headers: {
        link: '<https://docs.test/guides/errors.html#invalid_request>; rel="help"',
        'cache-control': 'no-store',
        'content-type': 'application/json',
      },
      loggedCode: 'invalid_request',
    });
    expect(respondTo(new HttpError(HTTP_ERRORS.payloadTooLarge))).toMatchObject({ status: 413, loggedCode: 'payload_too_large' });
    expect(respondTo(new DomainError(RATE_LIMITED)).headers).not.toHaveProperty('retry-after');
    expect(lines).toEqual([]);
  });

  it('has no Link of the page that could not be sent, also without guides', () => {
    filter = new ApiExceptionFilter(ROUTES, new PublicUrl(), logger);
    expect(respondTo(new DomainError(PRECONDITION_FAILED)).headers).not.toHaveProperty('link');
  });

  it('to an invalid request also names its invalid headers, once', () => {
    const messageOf = (error: DomainError) => (respondTo(error, { headerViolations: ['a', 'b'] }).body as Error).message;
    expect(messageOf(new DomainError(INVALID_REQUEST, 'name is empty'))).toBe('a; b; name is empty');
    expect(messageOf(new DomainError(INVALID_REQUEST, 'a'))).toBe('a; b');
    expect(messageOf(new DomainError(SERVICE_UNAVAILABLE, 'Down.'))).toBe('Down.');
  });

  it('to a patch of an unsupported type names the supported types', () => {
    const unsupported = respondTo(new HttpError(HTTP_ERRORS.unsupportedPatch));
    expect(unsupported.headers).toMatchObject({ 'accept-patch': 'application/merge-patch+json, application/json' });
    expect(respondTo(new HttpError(HTTP_ERRORS.unsupportedMediaType)).headers).not.toHaveProperty('accept-patch');
  });

  it.each([
    ['an unknown path', '/v1/cats', 'GET', 404, undefined],
    ['a method that the route supports', '/v1/pets', 'POST', 404, undefined],
    ['another method', '/v1/pets', 'PATCH', 405, 'GET, POST'],
    ['a part of a supported method', '/v1/pets', 'GE', 405, 'GET, POST'],
  ])('to %s', (_what, url, method, status, allow) => {
    const { headers, ...response } = respondTo(new NotFoundException(), { url, method, is404: true });
    expect(response).toMatchObject({ status, loggedCode: status === 404 ? 'route_not_found' : 'method_not_allowed' });
    expect(headers['allow']).toBe(allow);
    expect(lines).toEqual([]);
  });

  it.each([
    [new BadRequestException('secret'), 400, 'invalid_request'],
    [new NotFoundException('secret'), 404, 'route_not_found'],
    [new ConflictException('secret'), 409, 'invalid_request'],
    [new HttpException({ secret: 1 }, 418), 418, 'invalid_request'],
    [new HttpException('secret', 499), 499, 'invalid_request'],
    [new HttpException('secret', 302), 500, 'internal_error'],
    [new HttpException('secret', 500), 500, 'internal_error'],
    [new HttpException('secret', 502), 500, 'internal_error'],
    [new HttpException('secret', 503), 503, 'service_unavailable'],
  ])('to %s of Nest has the status %i and the code %s, but not its message', (exception, status, code) => {
    const { body, headers, text } = respondTo(exception);
    expect(body).toEqual({ status, code, message: expect.stringMatching(/^[A-Z].*\.$/) });
    expect(text).not.toContain('secret');
    expect(headers['retry-after']).toBe(status === 503 ? '1' : undefined);
    expect(lines).toHaveLength(status < 500 ? 0 : 1);
  });

  it('to an unexpected error while no route matches is an internal error', () => {
    expect(respondTo(new Error('secret'), { is404: true })).toMatchObject(internalError);
  });

  it.each([[new Error('secret')], ['secret'], [undefined], [{ status: 404 }]])(
    'to %j is an internal error, which is logged',
    (exception) => {
      const { headers, text, ...response } = respondTo(exception);
      expect(response).toMatchObject(internalError);
      expect(text).not.toContain('secret');
      expect(headers).not.toHaveProperty('retry-after');
      expect(lines).toMatchObject([{ level: 50, requestId: 'r1', code: 'internal_error', msg: 'request failed' }]);
      if (exception instanceof Error) expect(lines).toMatchObject([{ err: { message: 'secret', stack: expect.any(String) } }]);
    },
  );

  it('while the database is unavailable asks for a retry, and the error is logged', () => {
    expect(respondTo(errorWith('ECONNREFUSED'))).toMatchObject({
      status: 503,
      body: { code: SERVICE_UNAVAILABLE.code, message: SERVICE_UNAVAILABLE.message },
      headers: { 'retry-after': '1' },
    });
    expect(lines).toMatchObject([{ level: 50, requestId: 'r1', code: 'service_unavailable', err: { code: 'ECONNREFUSED' } }]);
  });

  it('to a request that the service rejects asks for a retry, and only its cause is logged', () => {
    expect(respondTo(new DomainError(SERVICE_UNAVAILABLE))).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(lines).toEqual([]);
    respondTo(new DomainError(SERVICE_UNAVAILABLE, 'Not ready.', { cause: errorWith('ECONNREFUSED') }));
    expect(lines).toMatchObject([{ msg: 'request failed', err: { message: 'Not ready.: lost' } }]);
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
});
