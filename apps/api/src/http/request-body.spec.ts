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
  receiveBodies(server, (reason) => void shed.push(reason), MAX_BYTES);
  // As `shedLoad` does.
  server.addHook('onSend', async ({ bodyReceiver }) => bodyReceiver?.release());
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
  if (!body || 'receive' in body) return undefined;
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

describe('a body of bytes', () => {
  const PDF = { 'content-type': 'application/pdf' };
  const TYPES = ['application/pdf', 'image/png'];
  /** Called by the handler; the guards would run before. */
  let receive: (() => Promise<ReceivedBody>)[];
  let responses: PromiseWithResolvers<string>[];

  beforeEach(() => {
    receive = [];
    responses = [];
    server.post('/pdf', { config: { acceptedBytes: { types: TYPES, maxBytes: 40 * KIB } } }, ({ body }) => {
      if ('receive' in (body as ReceivedBody)) receive.push((body as { receive: () => Promise<ReceivedBody> }).receive);
      responses.push(Promise.withResolvers());
      return responses.at(-1)?.promise;
    });
  });

  /** Sends a request, and returns the function that receives its body. */
  async function send(payload: Buffer | PassThrough, headers: Record<string, string> = PDF) {
    const count = responses.length;
    const framing = payload instanceof PassThrough && { 'transfer-encoding': 'chunked' };
    const response = server.inject({ method: 'POST', url: '/pdf', headers: { ...framing, ...headers }, payload });
    // Also fails if the payload does.
    response.catch(() => undefined);
    await waitFor(() => expect(responses).toHaveLength(count + 1));
    return {
      receive: receive.at(-1) as () => Promise<ReceivedBody>,
      respond: (error?: Error) => (error ? responses[count]?.reject(error) : responses[count]?.resolve(''), response),
    };
  }

  /** Returns the text of the received body, or the code and message of its error. */
  const result = async (...args: Parameters<typeof send>) => {
    const { receive, respond } = await send(...args);
    const body = await receive();
    await respond();
    return 'error' in body ? `${String(received([body]))}: ${body.error.message}` : received([body]);
  };

  it('is not read before it is received', async () => {
    const payload = new PassThrough();
    const { receive, respond } = await send(payload);
    payload.write('%PD');
    expect(payload.readableFlowing).toBeNull();
    const body = receive();
    for (const byte of 'F-1.7') payload.write(byte);
    payload.end();
    expect(received([await body])).toBe('%PDF-1.7');
    await respond();
  });

  it('has its own limit, types and messages', async () => {
    const largest = Buffer.alloc(40 * KIB, 'x');
    expect(await result(largest, { 'content-type': 'image/PNG; v=1' })).toBe(largest.toString());
    const tooLarge = 'payload_too_large: The body is larger than 40960 bytes.';
    expect(await result(Buffer.concat([largest, largest]))).toBe(tooLarge);
    expect(await result(chunked(largest, 'x'))).toBe(tooLarge);
    const unsupported = 'unsupported_media_type: The body must be application/pdf or image/png without a Content-Encoding.';
    for (const headers of [JSON_TYPE, { ...PDF, 'content-encoding': 'gzip' }]) expect(await result(largest, headers)).toBe(unsupported);
    expect(await result(chunked('x'), {})).toBe(unsupported);
    expect(await result(chunked(), {})).toBe('');
  });

  it('counts until the response, also that of an error, and leaves a quarter of the maximum for JSON', async () => {
    const large = Buffer.alloc(40 * KIB, 'x');
    for (let i = 0; i < 3; i++) {
      const { receive, respond } = await send(large);
      expect(await receive()).toHaveProperty('bytes');
      expect(await result(large)).toMatch(/^service_unavailable/);
      expect(await post('x'.repeat(50 * KIB))).toHaveLength(50 * KIB);
      await respond(i === 1 ? new Error('of the handler') : undefined);
      expect(await result(large)).toBe(large.toString());
    }
    expect(shed).toEqual(['receiving', 'receiving', 'receiving']);
  });

  it('that is rejected, or that arrives after the response, does not count', async () => {
    const [large, late] = [Buffer.alloc(40 * KIB, 'x'), new PassThrough()];
    const [rejected, answered] = [await send(chunked(large, 'x')), await send(late)];
    await rejected.receive();
    void answered.receive();
    late.write('%');
    await answered.respond();
    late.write(large.subarray(1));
    expect(await result(large)).toBe(large.toString());
    await rejected.respond();
  });

  it('counts at least a share of the maximum from its begin to its end', async () => {
    const others = [await send(Buffer.alloc(40 * KIB)), await send(Buffer.alloc(32 * KIB - 200))];
    for (const { receive } of others) await receive();
    expect(await result(chunked('x', 'x'))).toMatch(/^service_unavailable/);
    for (const { respond } of others) await respond();
  });

  it('that fails before it is received is an error', async () => {
    const payload = new PassThrough();
    const { receive } = await send(payload);
    payload.destroy(new Error('reset'));
    await new Promise(setImmediate);
    expect(received([await receive()])).toBe('invalid_request');
  });

  it.each([
    ['POST', 72 * KIB + 1, 'maxBytes of @ReceivesBytes at /large must be from 1 to 73728.'],
    ['POST', 0, 'maxBytes of @ReceivesBytes at /large must be from 1 to 73728.'],
    ['GET', 1, '@ReceivesBytes at /large must not be on a GET route, which has no body.'],
  ])('%s with at most %i bytes prevents the start', (method, maxBytes, reason) => {
    const route = { method, url: '/large', config: { acceptedBytes: { types: TYPES, maxBytes } }, handler: () => '' };
    expect(() => server.route(route)).toThrow(reason);
  });
});

it('bodies of bytes occupy at most 48 MiB by default', async () => {
  const byDefault = fastify();
  receiveBodies(byDefault, () => undefined);
  const route = { method: 'POST', url: '/', config: { acceptedBytes: { types: [], maxBytes: 48 * KIB * KIB + 1 } }, handler: () => '' };
  expect(() => byDefault.route(route)).toThrow(`must be from 1 to ${48 * KIB * KIB}.`);
});

it.each<[IncomingMessage['headers'], boolean]>([
  [{ 'content-length': String(64 * KIB) }, false],
  [{ 'content-length': String(64 * KIB + 1) }, true],
  [{ 'transfer-encoding': 'chunked' }, false],
])('the headers %j announce a body that is too large: %s', (headers, isTooLarge) => {
  expect(declaresTooLargeBody({ headers } as IncomingMessage)).toBe(isTooLarge);
});
