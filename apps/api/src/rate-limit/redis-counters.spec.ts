import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { endless } from '@animal-store/test-kit/raw-connection';
import { Metrics } from '../observability/metrics.js';
import { RateLimits } from './rate-limits.js';
import { checkRedis, RedisCounters } from './redis-counters.js';
import { FakeRedis } from './testing/fake-redis.js';

const LOST = 'Redis cannot be used; counting only the requests of this process';
const RECONNECTED = { level: 30, msg: 'reconnected to Redis; counting the requests of all processes' };

const lines: unknown[] = [];
const logger = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(JSON.parse(line)) });
let redis: FakeRedis;
let counters: RedisCounters;

const isConnected = (expected = true) => waitFor(() => expect(counters.isConnected).toBe(expected));
const connect = () => {
  void counters.start();
  return isConnected();
};
/** Counts on a connection that is not late, on a busy machine. */
const sharedCount = (expected: object, counter = counters.counter('a')) =>
  waitFor(async () => {
    redis.reset();
    expect(await counter.add(7n)).toEqual(expected);
  });

beforeEach(async () => {
  redis = await FakeRedis.start();
  counters = new RedisCounters(redis.url, 'spec', logger);
  lines.length = 0;
});
afterEach(async () => {
  counters.stop();
  await redis.stop();
});

it('processes share the counts, whose names contain the environment, and the metric shows the connection', async () => {
  const metrics = new Metrics();
  const limits = new RateLimits({ rateLimit: 3, redisUrl: redis.url, environment: 'spec' }, pino({ level: 'silent' }), metrics);
  const metric = async () => (await metrics.registry.metrics()).includes('\nredis_connected 1\n');
  expect(await metric()).toBe(false);
  limits.onApplicationBootstrap();
  await waitFor(async () => expect(await metric()).toBe(true));
  await connect();
  await waitFor(async () => {
    redis.reset();
    redis.commands.length = 0;
    expect(await limits.limitOfClient()?.counter.add(7n)).toEqual({ points: 1, msLeft: 30_000 });
    expect(await counters.counter('requests').add(7n)).toEqual({ points: 2, msLeft: 30_000 });
  });
  await limits.limitOfClient(5)?.counter.add(7n);
  await limits.limitOfPolicy({ name: 'orders', requestsPerMinute: 5 })?.counter.add(7n);
  await limits.countFailure('192.0.2.1');
  expect([...new Set(redis.commands.map(([, , , key]) => key))].filter((key) => !key?.endsWith(':check'))).toEqual([
    'animal-store:spec:requests:7',
    'animal-store:spec:policies:orders:7',
    expect.stringMatching(/^animal-store:spec:failed-authentications:\d+$/),
  ]);
  // Each request is a point, in a window of 60 s.
  expect(new Set(redis.commands.map(([, , , , points, seconds]) => `${points} ${seconds}`))).toEqual(new Set(['1 60']));
  limits.onApplicationShutdown();
  await waitFor(() => expect(redis.sockets.size).toBe(1));
});

describe('a hostile Redis', () => {
  const send = (text: string) => (socket: Socket) => void socket.write(text);

  it.each<[name: string, act: (socket: Socket) => void]>([
    ['that does not respond', () => undefined],
    ['that responds byte by byte', (socket) => setInterval(() => socket.write('-'), 20).unref()],
    ['that resets the connection within a reply', (socket) => void socket.write('*2\r\n:1', () => socket.resetAndDestroy())],
    ['that ends the connection', (socket) => void socket.end()],
    ['with an endless text', endless('$999999999\r\n')],
    ['with endless nested lists', endless('', '*2\r\n*2\r\n+OK\r\n')],
    ['that speaks HTTP', send('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['with another type', send('+OK\r\n')],
    ['with no points', send('*2\r\n:0\r\n:30000\r\n')],
    ['that is a replica', send("-READONLY You can't write against a read only replica.\r\n")],
    ['with a long error', send(`-${'x'.repeat(10_000)}\r\n`)],
  ])('%s costs bounded time, and the process counts for itself', async (_name, act) => {
    const sockets = new Set<Socket>();
    await connect();
    redis.respond = ([command], socket) => {
      if (command !== 'EVAL') return '+OK\r\n';
      sockets.add(socket);
      act(socket);
      return undefined;
    };
    const counter = counters.counter('a');
    expect(await Promise.all([counter.add(7n), counter.add(7n)])).toHaveLength(2);
    expect(counters.isConnected).toBe(false);
    expect(await counter.add(7n)).toMatchObject({ points: 3 });
    // Then while it connects.
    await waitFor(() => expect(sockets.size).toBe(2));
    expect(await counter.add(7n)).toMatchObject({ points: 4 });
    await waitFor(() => expect([...sockets].every(({ destroyed }) => destroyed)).toBe(true));
    expect(lines).toEqual([{ level: 40, reason: expect.stringMatching(/^.{1,200}$/s), msg: LOST }]);
    redis.respond = (words) => redis.count(words);
    await sharedCount({ points: 1, msLeft: 30_000 });
    expect(lines.slice(1)).toEqual([RECONNECTED]);
  });
});

it('a Redis that sends data without being asked is left in bounded time', async () => {
  await connect();
  for (const socket of redis.sockets) endless('-')(socket);
  await isConnected(false);
  await waitFor(() => expect(redis.sockets.size).toBe(0));
});

it('each of several outages is logged once, and so is its end', async () => {
  await connect();
  for (let outages = 1; outages <= 2; outages++) {
    for (const socket of redis.sockets) socket.destroy();
    const expected = Array.from({ length: outages }, () => [{ level: 40, reason: expect.any(String), msg: LOST }, RECONNECTED]).flat();
    await waitFor(() => expect(lines).toEqual(expected));
  }
});

it('responses that arrive while the event loop is blocked are in time', async () => {
  await connect();
  redis.respond = (words) => {
    // The server runs in the same process: its response can be read when the timer is due.
    for (const end = performance.now() + 300; performance.now() < end;);
    return redis.count(words);
  };
  expect(await counters.counter('a').add(7n)).toEqual({ points: 1, msLeft: 30_000 });
});

it('each connection reads the URL again, from a file that may be missing meanwhile', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'redis-'));
  const file = join(folder, 'url');
  counters = new RedisCounters({ file }, 'spec', logger);
  void counters.start();
  await waitFor(() => expect(lines).toContainEqual({ level: 40, reason: expect.stringContaining('cannot be read'), msg: LOST }));
  await writeFile(file, `${redis.url.replace('//', '//store:secret@')}/2`);
  await isConnected();
  expect(redis.commands.slice(0, 2)).toEqual([
    ['AUTH', 'store', 'secret'],
    ['SELECT', '2'],
  ]);
  await rm(folder, { recursive: true });
});

it('stops, also while it waits for the first response or loads the client', async () => {
  redis.respond = () => undefined;
  void counters.start();
  await waitFor(() => expect(redis.sockets.size).toBe(1));
  counters.stop();
  await waitFor(() => expect(redis.sockets.size).toBe(0));
  counters = new RedisCounters(redis.url, 'spec', logger);
  const loading = counters.connect();
  counters.stop();
  await expect(loading).rejects.toMatchObject({ name: 'AbortError' });
  expect([redis.sockets.size, counters.isConnected, lines]).toEqual([0, false, []]);
});

it('checkRedis connects and counts once, or rejects with the reason', async () => {
  await checkRedis(redis.url, 'spec');
  await waitFor(() => expect(redis.sockets.size).toBe(0));
  redis.respond = () => '-NOPERM no permissions\r\n';
  await expect(checkRedis(redis.url, 'spec')).rejects.toThrow('NOPERM no permissions');
  redis.respond = () => undefined;
  await expect(checkRedis(redis.url, 'spec')).rejects.toThrow('no response within 250 ms');
  await expect(checkRedis(redis.url.replace('//', '//store:secret@'), 'spec')).rejects.toThrow('no response within 1000 ms');
  await expect(checkRedis('redis://127.0.0.1:1', 'spec')).rejects.toThrow(/ECONNREFUSED/);
  await expect(checkRedis(redis.url.replace('redis:', 'rediss:'), 'spec')).rejects.toThrow();
});
