import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { PublicUrl } from '@animal-store/http-kit';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import { createLogger } from '../observability/logger.js';
import { Metrics } from '../observability/metrics.js';
import { ShedRequests } from '../observability/shed-requests.js';
import { Connection, Draining, endConnections } from './connection.js';
import { createHttpServer, silenceTimeoutMs } from './http-server.js';
import { RawConnection } from './testing/raw-connection.js';

const ORIGIN = 'https://a.example';

let http: FastifyInstance;
let metrics: Metrics;
let released: PromiseWithResolvers<string>;
let address: PromiseWithResolvers<string>;

/** Starts a server whose GET / responds when it is released, and whose GET /ip responds at once. */
async function listen(maxConnections: number, trustedProxies: string[] = []): Promise<number> {
  metrics = new Metrics();
  released = Promise.withResolvers();
  const shed = new ShedRequests(metrics, createLogger('silent'));
  http = createHttpServer({ trustedProxies, maxConnections, corsOrigins: [ORIGIN], publicUrl: new PublicUrl(), shed });
  endConnections(http, new Draining());
  address = Promise.withResolvers();
  http.get('/', ({ ip }) => {
    address.resolve(ip);
    return released.promise;
  });
  http.get('/ip', ({ ip }) => ip);
  await http.listen({ host: '127.0.0.1', port: 0 });
  return (http.server.address() as AddressInfo).port;
}

afterEach(() => http.close());

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const refusals = async () => (await metrics.requestsShed.get()).values.map(({ labels, value }) => [labels.reason, value]);

/** Opens connections one after the other, each with a request if it is busy. */
async function openMany(port: number, count: number, path: '/' | '/ip'): Promise<RawConnection[]> {
  const connections: RawConnection[] = [];
  for (let i = 0; i < count; i++) {
    const accepted = once(http.server, 'connection');
    const connection = await RawConnection.open(port);
    await accepted;
    const requested = once(http.server, 'request');
    connection.write(get(path));
    await requested;
    if (path === '/ip') expect((await connection.read())?.status).toBe(200);
    connections.push(connection);
  }
  return connections;
}

describe('above the maximum of connections', () => {
  it('the oldest idle one is closed for each new one', async () => {
    const port = await listen(4);
    const busy = await openMany(port, 1, '/');
    const [first, second, third] = await openMany(port, 3, '/ip');
    const newest = await openMany(port, 2, '/ip');
    for (const closed of [first, second]) expect(await closed?.read()).toBeUndefined();
    released.resolve('done');
    expect(await busy[0]?.read()).toMatchObject({ status: 200, body: 'done' });
    for (const open of [third, ...newest]) {
      open?.write(get('/ip'));
      expect(await open?.read()).toMatchObject({ status: 200 });
    }
    expect(await refusals()).toEqual([]);
    for (const connection of [...busy, third, ...newest]) connection?.reset();
  });

  it('a new one gets 503 if all are busy, and no response above a small reserve', async () => {
    const port = await listen(2);
    const busy = await openMany(port, 2, '/');
    const refused = await RawConnection.open(port);
    const dropped = await RawConnection.open(port);
    expect(await dropped.read()).toBeUndefined();
    const response = await refused.read();
    expect(response).toMatchObject({
      status: 503,
      headers: { connection: 'close', 'retry-after': '1', 'access-control-allow-origin': ORIGIN },
    });
    expect(JSON.parse(response?.body ?? '')).toEqual({ code: 'service_unavailable', message: expect.any(String), status: 503 });
    expect(await refused.read()).toBeUndefined();
    expect(await refusals()).toEqual([['connections', 2]]);
    released.resolve('done');
    for (const connection of busy) {
      expect(await connection.read()).toMatchObject({ status: 200, body: 'done' });
      connection.reset();
    }
  });

  it('a new one without a file descriptor is counted', async () => {
    await listen(1);
    http.server.emit('error', Object.assign(new Error('accept EMFILE'), { syscall: 'accept', code: 'EMFILE' }));
    expect(await refusals()).toEqual([['connections', 1]]);
  });
});

it.each([
  [[], '127.0.0.1'],
  [['127.0.0.1'], '192.0.2.1'],
])('the address of a client, also after a reset, behind the proxies %j is %s', async (trustedProxies, expected) => {
  const port = await listen(1, trustedProxies);
  const accepted = once(http.server, 'connection');
  const client = await RawConnection.open(port);
  await accepted;
  client.write('GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n');
  client.reset();
  expect(await address.promise).toBe(expected);
  released.resolve('');
});

it('a connection that is reset before it is accepted is closed', async () => {
  await listen(1);
  const socket = new Socket();
  (http.server as Server).emit('connection', socket);
  expect(socket.destroyed).toBe(true);
});

it('a connection that ends is destroyed after 500 ms without input, or after two seconds', () => {
  const lingerOf = (sendsForMs: number) => {
    const socket = Object.assign(new PassThrough(), { bytesRead: 0 });
    new Connection(socket as object as Socket).close();
    let lingerMs = 0;
    for (; !socket.destroyed && lingerMs < 10_000; lingerMs += 100) {
      if (lingerMs < sendsForMs) socket.bytesRead++;
      jest.advanceTimersByTime(100);
    }
    return lingerMs;
  };
  jest.useFakeTimers();
  const lingers = [0, 700, Infinity].map(lingerOf);
  jest.useRealTimers();
  expect(lingers).toEqual([500, 1_500, 2_000]);
});

it.each([
  [3_000, 30_000],
  [60_000, 130_000],
  [0, 0],
])('a silent connection is closed later than a request with statements of %i ms ends', (databaseStatementTimeoutMs, timeout) => {
  expect(silenceTimeoutMs({ databaseConnectTimeoutMs: 2_500, databaseStatementTimeoutMs })).toBe(timeout);
});
