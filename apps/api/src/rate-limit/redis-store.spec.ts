import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { FakeRedis } from './testing/fake-redis.js';
import { ADD_POINTS, checkRedis, RedisStore } from './redis-store.js';

const LOST = 'Redis cannot be used; counting only the requests of this process';
const RECONNECTED = { level: 30, msg: 'reconnected to Redis; counting the requests of all processes' };

const lines: unknown[] = [];
const logger = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(JSON.parse(line)) });
let redis: FakeRedis;
let store: RedisStore;

const ready = (isReady = true) => waitFor(() => expect(store.isReady).toBe(isReady));
const connect = () => {
  store.start();
  return ready();
};
const logged = (line: object) => waitFor(() => expect(lines).toContainEqual(line));
const add = (points = 1) => store.eval(ADD_POINTS, { keys: ['a'], arguments: [String(points), '60'] });
/** Redis responds like this to everything after the connection is ready. */
const respondWith = (response: string | undefined) => (redis.respond = ([name]) => (name === 'EVAL' ? response : '+OK\r\n'));
const recover = async () => {
  redis.respond = (args) => redis.count(args);
  await ready();
};

beforeEach(async () => {
  redis = await FakeRedis.start();
  store = new RedisStore(redis.url, 'spec', logger);
  lines.length = 0;
});
afterEach(async () => {
  store.stop();
  await redis.stop();
});

it('counts in Redis once it is connected', async () => {
  await expect(add()).rejects.toThrow('not connected');
  await connect();
  expect([await add(4), await add(3)]).toEqual([
    [4, 30_000],
    [7, 30_000],
  ]);
  expect(lines).toEqual([]);
});

it.each([
  ['a Redis that does not respond', undefined, 'no response within 250 ms'],
  ['bytes that are not RESP', 'HTTP/1.1 400 Bad Request\r\n\r\n', /^Unknown RESP type/],
  ['another type', '+OK\r\n', 'unexpected response'],
  ['fewer points than were added', '*2\r\n:-1\r\n:1000\r\n', 'unexpected response'],
  ['texts', '*2\r\n$1\r\n1\r\n$1\r\n1\r\n', 'unexpected response'],
  ['a replica', "-READONLY You can't write against a read only replica.\r\n", /^READONLY/],
  ['another node', '-MOVED 3999 127.0.0.1:6381\r\n', /^MOVED/],
])('%s is logged once and not waited for again, until a new connection counts', async (_what, response, reason) => {
  await connect();
  const { connections } = redis;
  respondWith(response);
  await expect(Promise.all([add(), add()])).rejects.toThrow();
  await ready(false);
  await expect(add()).rejects.toThrow('not connected');
  await waitFor(() => expect(redis.connections).toBeGreaterThan(connections + 1));
  expect(store.isReady).toBe(false);
  // On a busy machine, a response may have been late before.
  expect(lines).toEqual([
    { level: 40, reason: expect.stringMatching(new RegExp(`${reason instanceof RegExp ? reason.source : reason}|no response`)), msg: LOST },
  ]);
  await recover();
  expect(lines.slice(1)).toEqual([RECONNECTED]);
});

it('responses that arrive while the event loop is blocked are in time', async () => {
  await connect();
  redis.respond = (args) => {
    // The server runs in the same process: its response can be read when the timer is due.
    for (const end = performance.now() + 500; performance.now() < end;);
    return redis.count(args);
  };
  expect(await add()).toEqual([1, 30_000]);
});

it('a connection that is cut again and again is opened less often, and logged once in 10 s', async () => {
  await connect();
  const delays: number[] = [];
  for (let outage = 0; outage < 4; outage++) {
    const begin = performance.now();
    redis.cut();
    await ready(false);
    await ready();
    delays.push(performance.now() - begin);
  }
  expect(delays.at(-1)).toBeGreaterThanOrEqual(400);
  expect(lines).toEqual([{ level: 40, reason: expect.any(String), msg: LOST }, RECONNECTED]);
});

it('no more than 10,000 commands wait for Redis', async () => {
  await connect();
  respondWith(undefined);
  const added = await Promise.allSettled(Array.from({ length: 10_001 }, () => add()));
  expect(added.filter(({ status }) => status === 'fulfilled')).toEqual([]);
  await logged({ level: 40, reason: 'The queue is full', msg: LOST });
});

it('each connection reads the URL again, from a file that may be missing meanwhile', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'redis-'));
  const file = join(folder, 'url');
  store = new RedisStore({ file }, 'spec', logger);
  store.start();
  await logged({ level: 40, reason: expect.stringContaining('cannot be read'), msg: LOST });
  await writeFile(file, redis.url.replace('//', '//:secret@'));
  await ready();
  expect(redis.commands[0]).toEqual(['HELLO', '3', 'AUTH', 'default', 'secret']);
  await rm(folder, { recursive: true });
});

it('stops, also while it connects', async () => {
  store.start();
  store.stop();
  await waitFor(() => expect(redis.connections).toBe(1));
  await waitFor(() => expect(redis.sockets.size).toBe(0));
  expect([store.isReady, lines]).toEqual([false, []]);
});

describe('checkRedis', () => {
  it('resolves if Redis counts, and closes the connection', async () => {
    await checkRedis(redis.url, 'spec');
    await waitFor(() => expect(redis.sockets.size).toBe(0));
    expect(redis.connections).toBe(1);
  });

  it('rejects if Redis does not count one of the keys', async () => {
    redis.respond = (args) => (args[3] === 'animal-store:spec:check:5' ? '-MOVED 1 10.0.0.1:6379\r\n' : redis.count(args));
    await expect(checkRedis(redis.url, 'spec')).rejects.toThrow('MOVED');
  });

  it('rejects if Redis does not respond or is unreachable', async () => {
    redis.respond = () => undefined;
    await expect(checkRedis(redis.url, 'spec')).rejects.toThrow('not connected within 1000 ms');
    await expect(checkRedis('redis://127.0.0.1:1', 'spec')).rejects.toThrow(/ECONNREFUSED/);
  });
});
