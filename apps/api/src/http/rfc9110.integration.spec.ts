import { once } from 'node:events';
import { connect, type Server } from 'node:net';
import { Writable } from 'node:stream';
import { defineContext, Public, ReceivesBytes, Revalidated } from '@animal-store/http-kit';
import { waitFor } from '@animal-store/local-postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { Body, Controller, Delete, Get, Header, HttpCode, type MessageEvent, Module, Patch, Post, Put, Res, Sse } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { interval, map, type Observable, take } from 'rxjs';
import { contexts } from '../registered-contexts.js';
import { Metrics } from '../observability/metrics.js';
import { RateLimits } from '../rate-limit/rate-limits.js';
import { RawConnection } from '@animal-store/test-kit/raw-connection';
import { createLogger, useTestApp } from './testing/test-app.js';

const named = (operationId: string) => ApiOperation({ operationId });
const EVENTS = 3;
const MAX_BYTES = 40 * 1024 * 1024;

@Public()
@Controller({ path: 'things', version: '1' })
class ThingsController {
  @Get()
  @Revalidated()
  @named('listThings')
  list() {
    return { things: [] };
  }

  @Post()
  @named('createThing')
  create() {
    return { id: 1n };
  }

  @Put()
  @named('putThing')
  put() {
    return { id: 1n };
  }

  @Patch()
  @named('patchThing')
  patch() {
    return { id: 1n };
  }

  @Delete()
  @HttpCode(204)
  @named('deleteThing')
  delete(): void {
    return undefined;
  }

  @Get('none')
  @HttpCode(204)
  @named('getNoThing')
  none(): void {
    return undefined;
  }

  @Sse('events')
  @named('listEvents')
  events(): Observable<MessageEvent> {
    return this.endlessEvents().pipe(take(EVENTS));
  }

  @Sse('endless-events')
  @named('listEndlessEvents')
  endlessEvents(): Observable<MessageEvent> {
    return interval(20).pipe(map((n) => ({ data: String(n) })));
  }

  @Get('named')
  @named('getNamedThing')
  nameThing(@Res({ passthrough: true }) reply: FastifyReply) {
    reply.headers({ 'x-name': '€', 'x name': 'x' });
    return { id: 1n };
  }

  @Get('hijacked')
  @named('getHijackedThing')
  hijack(@Res() reply: FastifyReply): void {
    reply.hijack().raw.end('x');
  }

  @Put('photo')
  @ReceivesBytes({ type: 'image/png', maxBytes: MAX_BYTES })
  @named('setPhoto')
  setPhoto(@Body() _photo: Buffer, @Res() reply: FastifyReply): void {
    reply.hijack().raw.end('x');
  }

  @Get('raw')
  @named('getRawThing')
  @Header('X-Kind', 'raw')
  raw(@Res() reply: FastifyReply): void {
    reply.raw.end('x').end('too late');
  }
}

@Module({ controllers: [ThingsController] })
class ThingsModule {}

const things = defineContext({ module: ThingsModule, persistence: { schema: 'things', entities: [], migrations: [] } });

/** Per minute and address. */
const FAILED_AUTHENTICATIONS = 600;
const CONNECTIONS = 60;

const lines: string[] = [];
const logger = createLogger('info', new Writable({ write: (line: Buffer, _encoding, done) => done(void lines.push(line.toString())) }));
const service = useTestApp(['things:read'], { contexts: [...contexts, things], logger });
const open = () => RawConnection.open(service.url);

const HOST = 'Host: x\r\n';
const request = (method: string, fields = '', body = '', target = '/v1/things') =>
  `${method} ${target} HTTP/1.1\r\n${HOST}${fields}\r\n${body}`;
const NEXT = request('GET');
const statuses: Readonly<Record<string, number>> = { GET: 200, HEAD: 200, POST: 201, PUT: 200, PATCH: 200, DELETE: 204, OPTIONS: 204 };
const METHODS = [...Object.keys(statuses), 'TRACE', 'QUERY'];

describe.each(METHODS)('%s', (method) => {
  const isHead = method === 'HEAD';
  const status = statuses[method] ?? 405;

  it.each([
    ['no body', '', ''],
    ['a body', 'Content-Length: 2\r\n', '{}'],
    ['a body in chunks', 'Transfer-Encoding: chunked\r\n', '2\r\n{}\r\n0\r\n\r\n'],
    ['a body of no length', 'Content-Length: 0\r\n', ''],
    ['a body that looks like a request', `Content-Length: ${String(NEXT.length)}\r\n`, NEXT],
    ['a body that is too large', 'Content-Length: 100000\r\n', 'x'.repeat(100_000)],
  ])('with %s gets one response, and the connection continues', async (_what, fields, body) => {
    using connection = await open();
    connection.write(request(method, fields, body) + NEXT);
    const response = await connection.read({ isHead });
    expect(response).toMatchObject({ status, headers: { connection: 'keep-alive' } });
    // RFC 9110, section 8.6.
    if (status === 204)
      expect([response?.headers['content-length'], response?.headers['transfer-encoding']]).toEqual([undefined, undefined]);
    else expect(response?.headers['content-length']).toMatch(/^[1-9]\d*$/);
    // RFC 9110, sections 10.2.1 and 15.5.6.
    if (status === 405 || method === 'OPTIONS') expect(response?.headers['allow']).toBe('GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
    expect(await connection.read()).toMatchObject({ status: 200, body: '{"things":[]}' });
  });

  it.each([
    ['Connection: close', request(method, 'Connection: close\r\n')],
    ['HTTP/1.0, which has no expectations,', `${method} /v1/things HTTP/1.0\r\nExpect: nonsense\r\n\r\n`],
  ])('with %s gets a response that closes the connection', async (_what, bytes) => {
    const connection = await open();
    connection.write(bytes + NEXT);
    expect(await connection.read({ isHead })).toMatchObject({ status, headers: { connection: 'close' } });
    expect(await connection.read()).toBeUndefined();
  });

  it('may expect 100 Continue', async () => {
    using connection = await open();
    connection.write(request(method, 'Expect: 100-continue\r\nContent-Length: 2\r\n'));
    expect(await connection.read({ isInterim: true })).toMatchObject({ status: 100 });
    connection.write(`{}${NEXT}`);
    expect(await connection.read({ isHead })).toMatchObject({ status });
    expect(await connection.read()).toMatchObject({ status: 200 });
  });

  it('may have a target in absolute form, whatever Host is', async () => {
    using connection = await open();
    connection.write(request(method, '', '', 'http://other.example:1/v1/things'));
    expect(await connection.read({ isHead })).toMatchObject({ status, headers: { connection: 'keep-alive' } });
  });

  let turn = METHODS.indexOf(method);
  const LARGE = `X: ${'x'.repeat(9_000)}\r\n`;

  it.each([
    ['large headers', request(method, LARGE), 431],
    ['a long target', request(method, '', '', `/${'x'.repeat(9_000)}`), 431],
    ['a malformed field', request(method, 'nonsense\r\n'), 400],
    ['a folded field', request(method, 'X: a\r\n b\r\n'), 400],
    ['white space in the target', request(method, '', '', '/a b'), 400],
    ['two lengths', request(method, 'Content-Length: 2\r\nContent-Length: 2\r\n', '{}'), 400],
    ['a length and chunks', request(method, 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'), 400],
    ['an unknown coding', request(method, 'Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'), 400],
    ['another version', `${method} / HTTP/9.9\r\n${HOST}\r\n`, 400],
    ['no Host', `${method} / HTTP/1.1\r\n\r\n`, 400],
    ['an unsupported expectation', request(method, 'Expect: nonsense\r\n'), 417],
  ])('with %s gets an error, wherever it is in a packet, and the connection is closed', async (_what, bytes, errorStatus) => {
    const others = [['\r\n'], [NEXT, 'GET'], [request('HEAD'), 'HEAD'], [request('POST', 'Content-Length: 2\r\n', '{}'), 'POST']] as const;
    for (const [before, other] of [['', undefined] as const, others[turn++ % others.length] ?? others[0]]) {
      const connection = await open();
      connection.write(before + bytes + NEXT);
      if (other) expect((await connection.read({ isHead: other === 'HEAD' }))?.status).toBe(statuses[other]);
      const response = await connection.read({ isHead });
      expect(response).toMatchObject({ status: errorStatus, headers: { connection: 'close', 'content-type': 'application/json' } });
      expect(Number(response?.headers['content-length'])).toBeGreaterThan(50);
      if (!isHead) expect(JSON.parse(response?.body ?? '')).toMatchObject({ status: errorStatus });
      expect(await connection.read()).toBeUndefined();
    }
  });

  it('beyond the limit of pipelined requests gets an error', async () => {
    using connection = await open();
    connection.write(request(method).repeat(100));
    for (let i = 0; i < 64; i++) expect(await connection.read({ isHead })).toMatchObject({ status });
    const [next, end] = method === 'OPTIONS' ? [204, 'keep-alive'] : [503, 'close'];
    expect(await connection.read({ isHead })).toMatchObject({ status: next, headers: { connection: end } });
  });
});

it.each([
  ['GET', 304],
  ['HEAD', 304],
  ['GET', 204],
  ['HEAD', 204],
])('the response to %s has no Content-Length if it is a %i', async (method, status) => {
  using connection = await open();
  const [fields, target] = status === 304 ? ['If-None-Match: *\r\n'] : ['', '/v1/things/none'];
  connection.write(request(method, fields, '', target) + NEXT);
  const response = await connection.read();
  expect(response?.status).toBe(status);
  for (const name of ['content-length', 'content-type']) expect(response?.headers).not.toHaveProperty(name);
  expect(await connection.read()).toMatchObject({ status: 200 });
});

it.each([
  ['PUT', 'If-Match: "x"', 412],
  ['DELETE', 'If-Match: *', 204],
  ['PATCH', 'If-None-Match: *', 412],
])('%s without preconditions is only performed if the condition is true: %s', async (method, field, status) => {
  using connection = await open();
  connection.write(request(method, `${field}\r\n`));
  expect(await connection.read()).toMatchObject({ status });
});

it('OPTIONS * lists the methods of the server', async () => {
  using connection = await open();
  connection.write(request('OPTIONS', '', '', '*') + NEXT);
  const response = await connection.read();
  expect([response?.status, response?.headers['allow']]).toEqual([204, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS']);
  expect(await connection.read()).toMatchObject({ status: 200 });
});

it.each(['CONNECT', 'UNKNOWN', 'get'])('%s gets an error, and the connection is closed', async (method) => {
  const connection = await open();
  connection.write(request(method, '', '', method === 'CONNECT' ? 'x:1' : '/v1/things') + NEXT);
  const response = await connection.read();
  expect(response).toMatchObject({ status: method === 'CONNECT' ? 405 : 400, headers: { connection: 'close' } });
  expect(JSON.parse(response?.body ?? '')).toMatchObject({ status: response?.status });
  expect(await connection.read()).toBeUndefined();
});

describe('a response that bypasses Fastify or its route', () => {
  const inFlight = async () => Number(/^http_requests_in_flight (\d+)$/m.exec(await service.app.get(Metrics).registry.metrics())?.[1]);
  const end = (path: string) => fetch(`${service.url}/v1/things/${path}`).then((response) => response.text());

  it.each([
    ['events', EVENTS],
    ['hijacked', 0],
    ['raw', 0],
    // Nest passes it to the handler for unknown paths.
    ['../pets/', 0],
  ])('is not in flight after its end: %s', async (path, events) => {
    for (let i = 0; i < 3; i++) expect((await end(path)).match(/^data: /gm) ?? []).toHaveLength(events);
    await waitFor(async () => expect(await inFlight()).toBe(0));
  });

  it('is in flight once while it runs, until its client is gone', async () => {
    const controllers = Array.from({ length: 3 }, () => new AbortController());
    const readers = await Promise.all(
      controllers.map(async ({ signal }) => (await fetch(`${service.url}/v1/things/endless-events`, { signal })).body?.getReader()),
    );
    for (let i = 0; i < 3; i++) for (const reader of readers) expect((await reader?.read())?.done).toBe(false);
    expect(await inFlight()).toBe(3);
    for (const controller of controllers) controller.abort();
    await waitFor(async () => expect(await inFlight()).toBe(0));
  });

  it('is not in flight if its client is gone before it begins', async () => {
    for (let i = 0; i < CONNECTIONS; i++) await sendAndReset(request('GET', '', '', '/v1/things/endless-events'));
    await waitFor(async () => expect(await inFlight()).toBe(0));
  });
});

it('a header that Node.js cannot send is an internal error, which is logged', async () => {
  const response = await fetch(`${service.url}/v1/things/named`);
  const id = String(response.headers.get('x-request-id'));
  expect([response.status, await response.json()]).toEqual([500, expect.objectContaining({ code: 'internal_error', status: 500 })]);
  expect(lines.splice(0).join('')).toMatch(new RegExp(`"requestId":"${id}","err":.*Invalid character in header content`));
});

it('bytes are freed when a response that bypasses Fastify ends', async () => {
  const upload = { method: 'PUT', headers: { 'content-type': 'image/png' }, body: Buffer.alloc(MAX_BYTES) };
  for (let i = 0; i < 2; i++) expect((await fetch(`${service.url}/v1/things/photo`, upload)).status).toBe(200);
});

/** Sends bytes and resets the connection before the server reads them. */
async function sendAndReset(bytes: string): Promise<void> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  await Promise.all([once(socket, 'connect'), once(service.app.getHttpServer() as Server, 'connection')]);
  socket.write(bytes);
  socket.resetAndDestroy();
}

it('clients without a key that reset their connections cause no error, and count as failed authentications', async () => {
  const post = 'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":';
  for (let i = CONNECTIONS; i < FAILED_AUTHENTICATIONS; i++) await service.app.get(RateLimits).countFailure('127.0.0.1');
  for (let i = 0; i < CONNECTIONS / 2; i++) {
    await sendAndReset('GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n');
    await sendAndReset(post);
  }
  await waitFor(async () => expect((await fetch(`${service.url}/v1/pets`)).status).toBe(429), { timeoutMs: 20_000 });
  expect(lines.filter((line) => line.includes('request failed'))).toEqual([]);
});
