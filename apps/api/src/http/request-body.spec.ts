import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fastify, { type FastifyInstance } from 'fastify';
import { HttpError } from '../errors/http-errors.js';
import { declaresTooLargeBody, receiveBodies, type ReceivedBody } from './request-body.js';

const KIB = 1024;
const TOO_LARGE = 'payload_too_large';
const UNSUPPORTED = 'unsupported_media_type';
const JSON_TYPE = { 'content-type': 'application/json' };

/** Half of a body of 64 KiB more than this is too much for all bodies together. */
const MAX_BYTES = 96 * KIB;

let shed: string[];
let server: FastifyInstance;
let handled: ReceivedBody[];

beforeEach(() => {
  shed = [];
  handled = [];
  server = fastify({ bodyLimit: Number.MAX_SAFE_INTEGER });
  receiveBodies(server, { count: (reason) => void shed.push(reason) }, MAX_BYTES);
  server.route({
    method: ['POST', 'QUERY'],
    url: '/',
    handler: ({ body, contentType }) => {
      handled.push(body as ReceivedBody);
      return { contentType };
    },
  });
});

afterEach(() => server.close());

/** Returns the text of the received body, or the code of its error. */
const received = ([body]: readonly (ReceivedBody | undefined)[]) => {
  if (!body) return undefined;
  if ('bytes' in body) return body.bytes.toString();
  return body.error instanceof HttpError ? body.error.definition.code : body.error.code;
};

/** Sends a body, and returns its text or the code of its error. */
async function post(payload: string | PassThrough, headers: Record<string, string> = JSON_TYPE) {
  const framing = payload instanceof PassThrough && { 'transfer-encoding': 'chunked' };
  await server.inject({ method: 'POST', url: '/', headers: { ...framing, ...headers }, payload });
  return received(handled.splice(0));
}

/** Returns a body that arrives in several chunks, without a Content-Length. */
function chunked(...chunks: (string | Buffer)[]): PassThrough {
  const stream = new PassThrough({ highWaterMark: 4 * KIB * KIB });
  void (async () => {
    for (const chunk of chunks) {
      stream.write(chunk);
      await new Promise(setImmediate);
    }
    stream.end();
  })();
  return stream;
}

describe('a body', () => {
  it('is received in one chunk or several', async () => {
    expect(await post('{"name":"Rex"}')).toBe('{"name":"Rex"}');
    expect(await post(chunked('{"name":', '"Rex"', '}'))).toBe('{"name":"Rex"}');
    expect(await post(chunked('{"name":"Re', Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1), '"}'))).toBe('{"name":"Reé"}');
  });

  it('may have 64 KiB', async () => {
    const largest = 'x'.repeat(64 * KIB);
    expect(await post(largest)).toBe(largest);
    expect(await post(chunked(largest.slice(1), 'x'))).toBe(largest);
    expect(await post(`${largest}x`)).toBe(TOO_LARGE);
    expect(await post(chunked(largest, 'x'))).toBe(TOO_LARGE);
    expect(await post(chunked(largest, 'x', 'x'.repeat(100 * KIB)))).toBe(TOO_LARGE);
  });

  it('is rejected before it arrives if its Content-Length is too large', async () => {
    void server.inject({
      method: 'POST',
      url: '/',
      headers: { ...JSON_TYPE, 'content-length': String(64 * KIB + 1) },
      payload: new PassThrough(),
    });
    await waitFor(() => expect(received(handled)).toBe(TOO_LARGE));
  });

  it('is rejected if it and all other half-received bodies are too large together, but not after the others have ended', async () => {
    const half = 'x'.repeat(48 * KIB);
    for (let i = 0; i < 3; i++) {
      const others = [new PassThrough({ highWaterMark: 64 * KIB }), new PassThrough({ highWaterMark: 64 * KIB })];
      const responses = others.map((payload) => server.inject({ method: 'POST', url: '/', headers: JSON_TYPE, payload }));
      for (const other of others) other.write(half);
      await new Promise(setImmediate);
      expect(await post('{}')).toBe('service_unavailable');
      for (const other of others) other.end();
      await Promise.all(responses);
      expect(handled.splice(0).map((body) => received([body]))).toEqual([half, half]);
      expect(await post(chunked(half, 'x'))).toBe(`${half}x`);
    }
    expect(shed).toEqual(['receiving', 'receiving', 'receiving']);
  });
});

describe('a Content-Type', () => {
  it.each([
    'application/json',
    ' application/json ; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json; Charset=utf-8; v=1; title="a\\"b";',
    String.raw`application/json; title="a;b\\\"; charset=latin1"; charset="u\tf-8"`,
  ])('%j is supported', async (type) => expect(await post('{}', { 'content-type': type })).toBe('{}'));

  it.each([
    '; application/json',
    'application/json; CHARSET=latin1',
    'application/json; charset=""',
    'application/json, application/json',
    '',
    ';',
    `application/json; v=${'x'.repeat(256)}`,
  ])('%j is not supported', async (type) => expect(await post('{}', { 'content-type': type })).toBe(UNSUPPORTED));

  it('is required, unless the body is empty', async () => {
    expect(await post('{}', {})).toBe(UNSUPPORTED);
    expect(await post(chunked('{', '}'), {})).toBe(UNSUPPORTED);
    expect(await post(chunked(), {})).toBe('');
    expect(await post(chunked(), { 'content-type': 'text/plain' })).toBe(UNSUPPORTED);
  });

  it('does not allow a Content-Encoding', async () => {
    expect(await post('{}', { ...JSON_TYPE, 'content-encoding': 'gzip' })).toBe(UNSUPPORTED);
  });

  it('is kept for later hooks, and no type of QUERY is rejected by Fastify', async () => {
    const send = async (method: string, headers: Record<string, string>) => {
      const options = { method: method as 'POST', url: '/', headers, payload: Buffer.from('{}') };
      return (await server.inject(options)).json<{ contentType?: string }>();
    };
    expect(await send('POST', { 'content-type': 'a/b/c' })).toEqual({ contentType: 'a/b/c' });
    expect(await send('QUERY', {})).toEqual({});
    expect(handled.map((body) => received([body]))).toEqual([UNSUPPORTED, UNSUPPORTED]);
  });
});

it.each<[IncomingMessage['headers'], boolean]>([
  [{ 'content-length': String(64 * KIB) }, false],
  [{ 'content-length': String(64 * KIB + 1) }, true],
  [{ 'transfer-encoding': 'chunked' }, false],
])('the headers %j announce a body that is too large: %s', (headers, isTooLarge) => {
  expect(declaresTooLargeBody({ headers } as IncomingMessage)).toBe(isTooLarge);
});
