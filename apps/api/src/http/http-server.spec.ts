import { EventEmitter, once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { PublicUrl } from '@animal-store/http-kit';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createLogger } from '../observability/logger.js';
import { Metrics } from '../observability/metrics.js';
import { ShedRequests } from '../observability/shed-requests.js';
import { RawConnection } from './testing/raw-connection.js';
import { ConnectionLimit, connectionOf } from './connection.js';
import { createHttpServer, silenceTimeoutMs } from './http-server.js';
import { SocketErrors } from './socket-errors.js';

const MAX = 200;
/** 1 % of the maximum. */
const REFUSED = 2;

let server: EventEmitter;
let metrics: Metrics;
let now: number;

beforeEach(() => {
  now = 1_000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  server = new EventEmitter();
  metrics = new Metrics();
  const shed = new ShedRequests(metrics, createLogger('silent'));
  const errors = new SocketErrors({ corsOrigins: ['https://a.example'], publicUrl: new PublicUrl(), shed });
  new ConnectionLimit(MAX, errors, shed).register(server as Server);
});

afterEach(() => {
  jest.restoreAllMocks();
});

type State = 'idle' | 'busy';

/** Opens a connection to the server. */
function open(state: State): { readonly socket: Socket; readonly written: string[] } {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: '192.0.2.1' });
  const written: string[] = [];
  jest.spyOn(socket, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  server.emit('connection', socket);
  const connection = connectionOf(socket);
  connection.pending = state === 'busy' ? 1 : 0;
  return { socket, written };
}

const openMany = (count: number, state: State) => Array.from({ length: count }, () => open(state));
const closed = (connections: readonly { readonly socket: Socket }[]) => connections.filter(({ socket }) => socket.destroyed);

describe('above the maximum', () => {
  it('closes the oldest idle connection for each new one', () => {
    const busy = openMany(MAX - 3, 'busy');
    const idle = openMany(3, 'idle');
    expect(closed([...busy, ...idle])).toEqual([]);
    const newest = openMany(2, 'busy');
    expect(closed([...busy, ...idle, ...newest])).toEqual(idle.slice(0, 2));
  });

  it('responds with 503 if all connections are busy, and destroys those above a small reserve without a response', async () => {
    openMany(MAX, 'busy');
    const refused = openMany(REFUSED, 'idle');
    for (const { socket, written } of refused) {
      expect(written.join()).toMatch(
        /^HTTP\/1\.1 503 [^]*\r\nRetry-After: 1\r\n[^]*^access-control-allow-origin: https:\/\/a\.example\r\n/m,
      );
      expect([connectionOf(socket).isEnded, socket.destroyed]).toEqual([true, false]);
    }
    const [destroyed] = openMany(1, 'idle');
    expect([destroyed?.written, destroyed?.socket.destroyed]).toEqual([[], true]);
    for (const { socket } of refused) socket.destroy();
    expect((await metrics.requestsShed.get()).values).toMatchObject([{ labels: { reason: 'connections' }, value: REFUSED + 1 }]);
  });

  it('searches for idle connections again after 100 ms', () => {
    const busy = openMany(MAX, 'busy');
    expect(open('busy').written).toHaveLength(1);
    for (const { socket } of busy) connectionOf(socket).pending = 0;
    now += 99;
    expect(open('busy').written).toHaveLength(1);
    expect(closed(busy)).toEqual([]);
    now += 1;
    expect(open('busy').written).toEqual([]);
    expect(closed(busy)).toEqual(busy.slice(0, 1));
  });
});

it('a client above the maximum gets 503 while the other clients wait for their responses', async () => {
  jest.restoreAllMocks();
  const shed = new ShedRequests(metrics, createLogger('silent'));
  const http = createHttpServer({ trustedProxies: [], maxConnections: 1, corsOrigins: [], publicUrl: new PublicUrl(), shed });
  const [requested, released] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  http.get('/', () => {
    requested.resolve();
    return released.promise;
  });
  await http.listen({ host: '127.0.0.1', port: 0 });
  const { port } = http.server.address() as AddressInfo;
  const busy = await RawConnection.open(port);
  busy.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await requested.promise;
  const refused = await RawConnection.open(port);
  const response = await refused.read();
  expect(response).toMatchObject({
    status: 503,
    headers: { connection: 'close', 'retry-after': '1' },
  });
  expect(JSON.parse(response?.body ?? '')).toEqual({ code: 'service_unavailable', message: expect.any(String), status: 503 });
  expect(await refused.read()).toBeUndefined();
  released.resolve('done');
  expect(await busy.read()).toMatchObject({ status: 200, body: 'done' });
  busy.reset();
  await http.close();
});

it.each([
  [[], '127.0.0.1'],
  [['127.0.0.1'], '192.0.2.1'],
])('the address of a client behind the proxies %j is %s', async (trustedProxies, address) => {
  const shed = new ShedRequests(metrics, createLogger('silent'));
  const http = createHttpServer({ trustedProxies, maxConnections: 1, corsOrigins: [], publicUrl: new PublicUrl(), shed });
  http.get('/', ({ ip }) => ip);
  expect((await http.inject({ url: '/', headers: { 'x-forwarded-for': '192.0.2.1' } })).body).toBe(address);
  await http.close();
});

it.each([
  [[], '127.0.0.1'],
  [['127.0.0.1'], '192.0.2.1'],
])('the address of a client that has reset its connection, behind the proxies %j, is %s', async (trustedProxies, address) => {
  jest.restoreAllMocks();
  const shed = new ShedRequests(metrics, createLogger('silent'));
  const http = createHttpServer({ trustedProxies, maxConnections: 1, corsOrigins: [], publicUrl: new PublicUrl(), shed });
  const { promise, resolve } = Promise.withResolvers<string>();
  http.get('/', ({ ip }) => resolve(ip));
  await http.listen({ host: '127.0.0.1', port: 0 });
  const accepted = once(http.server, 'connection');
  const client = await RawConnection.open((http.server.address() as AddressInfo).port);
  await accepted;
  client.write('GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n');
  client.reset();
  expect(await promise).toBe(address);
  await http.close();
});

it('a connection that is reset before it is accepted is closed', () => {
  const socket = new Socket();
  server.emit('connection', socket);
  expect(socket.destroyed).toBe(true);
});

it.each([
  [3_000, 30_000],
  [60_000, 130_000],
  [0, 0],
])(
  'a silent connection with a request is closed later than a request with statements of %i ms ends',
  (databaseStatementTimeoutMs, timeout) => {
    expect(silenceTimeoutMs({ databaseConnectTimeoutMs: 2_500, databaseStatementTimeoutMs })).toBe(timeout);
  },
);

it('forgets closed connections', async () => {
  for (let i = 0; i < 2 * MAX; i++) open('busy').socket.destroy();
  await new Promise(setImmediate);
  const connections = openMany(MAX, 'busy');
  expect(connections.flatMap(({ written }) => written)).toEqual([]);
  expect(closed(connections)).toEqual([]);
});

it('counts connections for which the process has no file descriptor, and continues', async () => {
  server.emit('error', Object.assign(new Error('accept EMFILE'), { syscall: 'accept', code: 'EMFILE' }));
  expect((await metrics.requestsShed.get()).values).toMatchObject([{ labels: { reason: 'connections' }, value: 1 }]);
});
