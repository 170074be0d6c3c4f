import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { HTTP_ERRORS, HttpError, type RequestError } from '../errors/http-errors.js';
import { connectionOf, type Reception } from './connection.js';
import { declaresTooLargeBody, HalfReceivedRequests, type ReceivedBody, RequestBodies, splitUnquoted } from './request-body.js';

const KIB = 1024;
const TOO_LARGE = 'payload_too_large';
const UNSUPPORTED = 'unsupported_media_type';
const JSON_TYPE = { 'content-type': 'application/json' };

/** Records which bodies are being received, and fails if one ends twice. */
class Receptions {
  readonly begun: Reception[] = [];
  readonly open = new Set<Reception>();
  error: RequestError | undefined;

  begin(reception: Reception): void {
    this.begun.push(reception);
    this.open.add(reception);
  }

  end(reception: Reception): RequestError | undefined {
    if (!this.open.delete(reception)) throw new Error('ended twice');
    return this.error;
  }
}

let receptions: Receptions;
let server: FastifyInstance;
let handled: ReceivedBody[];

beforeEach(() => {
  receptions = new Receptions();
  handled = [];
  server = fastify({ bodyLimit: Number.MAX_SAFE_INTEGER });
  new RequestBodies(receptions).register(server);
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
  expect(receptions.open.size).toBe(0);
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
    expect(receptions.open.size).toBe(0);
  });

  it('is replaced by the error of the observer', async () => {
    receptions.error = new HttpError(HTTP_ERRORS.requestTimeout);
    expect(await post('{}')).toBe('request_timeout');
    expect(await post('{}', {})).toBe('request_timeout');
  });

  it('can be abandoned, once', async () => {
    const payload = new PassThrough();
    const response = server.inject({ method: 'POST', url: '/', headers: JSON_TYPE, payload });
    payload.write('{');
    await waitFor(() => expect(receptions.begun).toHaveLength(1));
    for (const error of [HTTP_ERRORS.requestTimeout, HTTP_ERRORS.uriTooLong]) receptions.begun[0]?.abandon(new HttpError(error));
    payload.end('}');
    expect((await response).statusCode).toBe(200);
    expect(handled.map((body) => received([body]))).toEqual(['request_timeout']);
  });

  it('that a reset of the connection cuts is no longer being received', async () => {
    await server.listen({ host: '127.0.0.1', port: 0 });
    const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"a"');
    await waitFor(() => expect(receptions.open.size).toBe(1));
    socket.resetAndDestroy();
    await waitFor(() => expect(receptions.open.size).toBe(0));
    expect(handled).toMatchObject([{ error: { definition: HTTP_ERRORS.malformedRequest } }]);
  });
});

describe('a rejected body', () => {
  const MIB = KIB * KIB;
  const TOO_MUCH = 8 * MIB + 1;

  it.each([
    [TOO_MUCH - 1, false],
    [TOO_MUCH, true],
  ])('of %i bytes is read completely unless it exceeds 8 MiB', async (bytes, isPaused) => {
    const payload = new PassThrough({ highWaterMark: 2 * TOO_MUCH });
    payload.write(Buffer.alloc(bytes, 'x'));
    await server.inject({ method: 'POST', url: '/', headers: JSON_TYPE, payload });
    expect(received(handled)).toBe(TOO_LARGE);
    expect(receptions.begun[0]?.request.raw.isPaused()).toBe(isPaused);
  });
});

describe('a Content-Type', () => {
  it.each([
    'application/json',
    'Application/JSON',
    ' application/json ; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json; Charset=utf-8; v=1; title="a\\"b";',
    String.raw`application/json; title="a;b\\\"; charset=latin1"; charset="u\tf-8"`,
  ])('%j is supported', async (type) => expect(await post('{}', { 'content-type': type })).toBe('{}'));

  it.each([
    'text/plain',
    'application/jsonp',
    '; application/json',
    'application/json; x="; charset=utf-8',
    'application/json; x="y"z',
    'application/json; charset=latin1',
    'application/json; CHARSET=latin1',
    'application/json; charset=utf-8; charset="latin1"',
    'application/json; charset=""',
    'application/json; charset',
    'application/json; =utf-8',
    'application/json; v="a"b',
    'application/json; v="a\\"',
    'application/json; a b=c',
    'application/json, application/json',
    '',
    ';',
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

it.each([
  ['a', ['a']],
  ['a , b,c', ['a', 'b', 'c']],
  ['a="x, y", b', ['a="x, y"', 'b']],
  [String.raw`a="x\", y", b`, [String.raw`a="x\", y"`, 'b']],
  [String.raw`a="x\\", b`, [String.raw`a="x\\"`, 'b']],
  ['a="x, b', ['a="x, b']],
  ['a="x"y", b', ['a="x"y", b']],
])('splits %j outside of quoted strings', (field, parts) => {
  expect(splitUnquoted(field, ',').filter((part) => part !== '')).toEqual(parts);
});

it.each<[IncomingMessage['headers'], boolean]>([
  [{ 'content-length': String(64 * KIB) }, false],
  [{ 'content-length': String(64 * KIB + 1) }, true],
  [{ 'transfer-encoding': 'chunked' }, false],
])('the headers %j announce a body that is too large: %s', (headers, isTooLarge) => {
  expect(declaresTooLargeBody({ headers } as IncomingMessage)).toBe(isTooLarge);
});

const MAX = 8;
const MAX_OF_ADDRESS = 2;
/** Addresses of one /64 network. */
const SAME_NETWORK = ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:ffff::3'] as const;

/** Receptions by an observer, and the addresses whose requests it abandoned, in order. */
function observe(admit: () => RequestError | undefined = () => undefined) {
  const abandoned: string[] = [];
  const shed: string[] = [];
  const requests = new HalfReceivedRequests(MAX, { admit }, { count: (reason) => void shed.push(reason) });
  const end = (reception: Reception) => requests.end(Object.assign(reception, { isOver: true }));
  const begin = (ip: string, socket = new Socket()): Reception => {
    const abandon = () => {
      abandoned.push(ip);
      end(reception);
    };
    const reception = { request: { ip, raw: { socket } } as FastifyRequest, abandon, isOver: false };
    requests.begin(reception);
    return reception;
  };
  return { abandoned, shed, begin, end };
}

describe('HalfReceivedRequests', () => {
  it.each([
    ['an IPv4 address', '192.0.2.1', '192.0.2.1', '192.0.2.1'],
    ['an IPv6 network', ...SAME_NETWORK],
  ])('limits the requests of %s, and forgets those that have ended', async (_what, one, other, newest) => {
    const { abandoned, shed, begin, end } = observe();
    for (let i = 0; i < 2 * MAX; i++) {
      const reception = begin(one);
      await turn();
      end(reception);
    }
    begin(one);
    begin(other);
    await turn();
    expect(abandoned).toEqual([]);
    begin(newest);
    await turn();
    expect([abandoned, shed]).toEqual([[one], ['slow_bodies']]);
  });

  it('limits the requests of all addresses, and abandons the oldest', async () => {
    const { abandoned, shed, begin, end } = observe();
    const receptions = Array.from({ length: MAX }, (_, i) => begin(`192.0.2.${String(i)}`));
    await turn();
    for (const reception of receptions.splice(0, 1)) end(reception);
    begin('192.0.2.100');
    await turn();
    expect(abandoned).toEqual([]);
    begin('192.0.2.101');
    await turn();
    expect([abandoned, shed]).toEqual([['192.0.2.1'], ['receiving']]);
  });

  it('does not count requests that are received in one turn of the event loop', async () => {
    const { abandoned, begin, end } = observe();
    for (let i = 0; i < 2 * MAX; i++) end(begin('192.0.2.1'));
    for (let i = 0; i < MAX_OF_ADDRESS; i++) begin('192.0.2.1');
    await turn();
    expect(abandoned).toEqual([]);
  });

  it('returns the error of the admission', () => {
    const error = {} as RequestError;
    const { begin, end } = observe(() => error);
    expect(end(begin('192.0.2.1'))).toBe(error);
  });

  it('keeps the reception of the next request of the connection', () => {
    const { begin, end } = observe();
    const socket = new Socket();
    const first = begin('192.0.2.1', socket);
    const second = begin('192.0.2.1', socket);
    end(first);
    expect(connectionOf(socket).receiving).toBe(second);
    end(second);
    expect(connectionOf(socket).receiving).toBeUndefined();
  });
});
