import { generateApiKeySecret, type KeyEnvironment, prefixOf } from '@animal-store/access-domain';
import type { Principal } from '@animal-store/kernel';
import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { fastify, type FastifyReply, type FastifyRequest } from 'fastify';
import { createLogger } from './logger.js';
import { Metrics } from './metrics.js';
import { createRequestLogger, identifyRequests, loggedPath, observeResponses, requestIdOf } from './request-hooks.js';

async function linesOf(level: string, about: object = {}, { share = 1, statuses = [404] } = {}): Promise<string[]> {
  const lines: string[] = [];
  const server = fastify({ genReqId: () => 'r' });
  server.addHook('onRequest', (request, _reply, done) => {
    Object.assign(request, about);
    done();
  });
  observeResponses(server, createLogger(level, { write: (line) => lines.push(line) }), new Metrics(), share);
  let sent = 0;
  server.get('/v1/pets/1', (_request, reply) => reply.code(statuses[sent++] ?? 500).send());
  while (sent < statuses.length) await server.inject('/v1/pets/1?secret=1');
  await server.close();
  return lines;
}

it('writes one line per response, without the query', async () => {
  const principal = { clientId: 9007199254740993n, keyId: 2n } as Principal;
  const [line = '', ...more] = await linesOf('info', { principal, operation: 'getPet', errorCode: 'pet_not_found', traceId: 'abc' });
  expect(more).toEqual([]);
  expect(JSON.parse(line)).toMatchObject({
    msg: 'request',
    requestId: 'r',
    traceId: 'abc',
    clientId: '9007199254740993',
    keyId: '2',
    operation: 'getPet',
    method: 'GET',
    path: '/v1/pets/1',
    status: 404,
    code: 'pet_not_found',
    durationMs: expect.any(Number),
  });
});

it('writes nothing if the log level is above info', async () => {
  expect(await linesOf('warn')).toEqual([]);
});

it('writes all errors and the configured share of other requests', async () => {
  const statuses = [200, 404, 201, 503, 304, 400];
  const logged = (lines: readonly string[]) => lines.map((line) => (JSON.parse(line) as { status: number }).status);
  expect(logged(await linesOf('info', {}, { share: 0, statuses }))).toEqual([404, 503, 400]);
  expect(logged(await linesOf('info', {}, { share: 1, statuses }))).toEqual(statuses);
  // Random: fewer than 60 or more than 140 of 200 occur once in 100 million runs.
  const half = await linesOf('info', {}, { share: 0.5, statuses: Array.from({ length: 200 }, () => 200) });
  expect(half.length).toBeGreaterThanOrEqual(60);
  expect(half.length).toBeLessThanOrEqual(140);
});

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const visibleAscii = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), minLength: 1 });

it('writes the same line as the logger', () => {
  const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
  const request = fc.record({
    id: visibleAscii,
    traceId: maybe(fc.stringMatching(/^[0-9a-f]{32}$/)),
    principal: maybe(fc.record({ clientId: fc.bigInt(), keyId: fc.bigInt() })),
    operation: maybe(fc.constantFrom('listPets', 'createPet')),
    method: fc.constantFrom('GET', 'POST', 'M-SEARCH'),
    url: fc
      .string({ unit: fc.integer({ min: 0, max: 0x10_ffff }).map((codePoint) => String.fromCodePoint(codePoint).toWellFormed()) })
      .map((path) => `/${path}`),
    errorCode: maybe(fc.constant('pet_not_found')),
  });
  fc.assert(
    fc.property(
      request,
      fc.integer({ min: 200, max: 599 }),
      fc.double({ min: 0, max: 1e5, noNaN: true }),
      (given, statusCode, elapsedTime) => {
        const lines: string[] = [];
        const logger = createLogger('info', { write: (line) => lines.push(line) });
        createRequestLogger(logger)(given as unknown as FastifyRequest, { statusCode, elapsedTime } as FastifyReply);
        logger.info(
          {
            requestId: given.id,
            traceId: given.traceId,
            clientId: given.principal?.clientId.toString(),
            keyId: given.principal?.keyId.toString(),
            operation: given.operation,
            method: given.method,
            path: loggedPath(given.url),
            status: statusCode,
            code: given.errorCode,
            durationMs: Math.round(elapsedTime * 1000) / 1000,
          },
          'request',
        );
        expect(lines[0]).toBe(lines[1]);
      },
    ),
  );
  now.mockRestore();
});

const key = generateApiKeySecret('production' as KeyEnvironment);
const redacted = `${prefixOf(key)}…`;

const percentEncoded = (text: string) => [...text].map((character) => `%${character.charCodeAt(0).toString(16)}`).join('');

describe('loggedPath', () => {
  it('removes the query string', () => {
    expect(loggedPath(`/v1/pets?api_key=${key}`)).toBe('/v1/pets');
    expect(loggedPath('/v1/pets/1')).toBe('/v1/pets/1');
  });

  it('keeps the encoding of a path without a key', () => {
    expect(loggedPath('/v1/pets/%2F%zz')).toBe('/v1/pets/%2F%zz');
  });

  it('keeps control characters around a redacted key encoded', () => {
    expect(loggedPath(`/v1/pets/%1B[31m%0a%9b%2520${key}`)).toBe(`/v1/pets/%1B%5B31m%0A%C2%9B%20${redacted}`);
  });

  it.each([
    ['plain', key],
    ['with an encoded underscore', key.replaceAll('_', '%5F')],
    ['encoded', percentEncoded(key)],
    ['encoded twice', percentEncoded(key).replaceAll('%', '%25')],
    ['encoded three times', percentEncoded(key).replaceAll('%', '%2525')],
  ])('redacts a key %s', (_, text) => {
    expect(loggedPath(`/v1/pets/${text}`)).toBe(`/v1/pets/${redacted}`);
  });
});

const idFor = (given: string | undefined) => requestIdOf({ headers: given === undefined ? {} : { 'x-request-id': given } });

describe('the request id', () => {
  it.each(['a', 'a'.repeat(128), '!~#-_7'])('is that of the caller if it is valid: %s', (given) => expect(idFor(given)).toBe(given));

  it.each([`a-${key}`, key.replaceAll('_', '%5f')])('is generated if that of the caller contains an API key (%#)', (given) =>
    expect(idFor(given)).not.toBe(given),
  );

  it.each([undefined, '', 'a'.repeat(129), 'a b', 'ä', 'a\tb', 'a\r\nX: y'])('is generated for %j', (given) => {
    expect(idFor(given)).toMatch(/^[0-9a-f-]{36}$/);
    expect(idFor(given)).not.toBe(idFor(given));
  });
});

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';

describe('identifyRequests', () => {
  const send = async (headers: Record<string, string | string[]>) => {
    const server = fastify({ genReqId: requestIdOf });
    identifyRequests(server);
    server.get('/', ({ traceId }) => ({ traceId }));
    const response = await server.inject({ url: '/', headers });
    return { headers: response.headers, traceId: response.json<{ traceId?: string }>().traceId };
  };

  it('returns the request id, and forbids to guess content types', async () => {
    expect((await send({ 'x-request-id': 'r-1' })).headers).toMatchObject({ 'x-request-id': 'r-1', 'x-content-type-options': 'nosniff' });
    expect((await send({})).headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    ...[`00-${TRACE_ID}-${SPAN_ID}-01`, `00-${TRACE_ID}-${SPAN_ID}-00`],
    ...[`cc-${TRACE_ID}-${SPAN_ID}-01-what-comes-later`, `cc-${TRACE_ID}-${SPAN_ID}-01`],
  ])('reads the trace id of the caller: %s', async (traceparent) => {
    expect((await send({ traceparent })).traceId).toBe(TRACE_ID);
  });

  it.each([
    '',
    `00-${TRACE_ID}-${SPAN_ID}`,
    `00-${TRACE_ID}-${SPAN_ID}-1`,
    `ff-${TRACE_ID}-${SPAN_ID}-01`,
    `cc-${TRACE_ID}-${SPAN_ID}-01more`,
    `00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`,
    `00-${'0'.repeat(32)}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
    `00-${TRACE_ID}-${SPAN_ID}-01, 00-${TRACE_ID}-${SPAN_ID}-01`,
  ])('ignores the invalid traceparent %j', async (traceparent) => {
    expect((await send({ traceparent })).traceId).toBeUndefined();
  });
});
