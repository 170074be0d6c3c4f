import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { FakeRedis } from './testing/fake-redis.js';
import { checkRedis, RedisCounter } from './redis-counter.js';

const TIMEOUT_MS = 250;
const MIN_DELAY_MS = 50;
/** Time of the work itself on a busy machine. */
const TOLERANCE_MS = 200;
const LOST = 'the connection to Redis is lost; counting only the requests of this machine';
const UNCOUNTED = 'Redis does not count; counting only the requests of this machine';
const RECONNECTED = { level: 30, msg: 'reconnected to Redis; counting the requests of all machines' };

const lines: unknown[] = [];
const logger = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(JSON.parse(line)) });
let redis: FakeRedis;
let counter: RedisCounter;

const connected = (isConnected = true) => waitFor(() => expect(counter.isConnected).toBe(isConnected));
const connect = () => {
  counter.start();
  return connected();
};
const logged = (line: object) => waitFor(() => expect(lines).toContainEqual(line));
const add = (key = 'a', points = 1) => counter.add(key, points);

beforeEach(async () => {
  redis = await FakeRedis.start();
  counter = new RedisCounter(redis.url, 'spec', logger);
  lines.length = 0;
});
afterEach(async () => {
  counter.stop();
  await redis.stop();
});

it('counts in Redis once it is connected, by environment', async () => {
  expect([counter.isConnected, await add()]).toEqual([false, undefined]);
  await connect();
  expect([await add('a', 4), await add('a', 3), await add('b')]).toEqual([
    { points: 4, msLeft: 30_000 },
    { points: 7, msLeft: 30_000 },
    { points: 1, msLeft: 30_000 },
  ]);
  expect(redis.commands.at(-1)).toEqual(['EVAL', expect.any(String), '1', 'animal-store:spec:b', '1', '60000']);
  expect(lines).toEqual([]);
});

it('is not waited for while Redis does not respond under traffic, and counts again afterwards', async () => {
  await connect();
  redis.respond = () => undefined;
  const times: number[] = [];
  const client = async () => {
    for (let request = 0; request < 24; request++, await sleep(25)) {
      const begin = performance.now();
      expect(await add()).toBeUndefined();
      times.push(performance.now() - begin);
    }
  };
  await Promise.all(Array.from({ length: 8 }, client));
  expect(Math.max(...times)).toBeLessThan(TIMEOUT_MS + TOLERANCE_MS);
  // Only the requests before the first timeout wait.
  expect(times.filter((ms) => ms > TIMEOUT_MS / 4).length).toBeLessThanOrEqual(16);
  expect(lines).toEqual([{ level: 40, reason: 'no response within 250 ms', msg: LOST }]);
  // Nothing was sent after the first timeout, except to connect.
  expect(redis.commands.filter(([, , , key]) => key === 'animal-store:spec:a').length).toBeLessThanOrEqual(16);
  expect(redis.sockets.size).toBeLessThanOrEqual(1);
  redis.respond = (args) => redis.count(args);
  await connected();
  expect(await add()).toMatchObject({ points: 1 });
  expect(lines.slice(1)).toEqual([RECONNECTED]);
});

it('responses that arrive while the event loop is blocked are in time', async () => {
  await connect();
  redis.respond = (args) => {
    // The server runs in the same process: its response can be read when the timer is due.
    for (const end = performance.now() + 2 * TIMEOUT_MS; performance.now() < end;);
    return redis.count(args);
  };
  expect(await add()).toMatchObject({ points: 1 });
  expect(counter.isConnected).toBe(true);
});

it.each([
  "READONLY You can't write against a read only replica.",
  'MOVED 3999 127.0.0.1:6381',
  'ERR value is not an integer or out of range',
])('an error is logged once, and Redis is used again on a new connection: %s', async (message) => {
  await connect();
  const { connections } = redis;
  redis.respond = (args) => (args[0] === 'EVAL' ? `-${message}\r\n` : redis.count(args));
  expect(await add()).toBeUndefined();
  expect([counter.isConnected, await add()]).toEqual([false, undefined]);
  await waitFor(() => expect(redis.connections).toBeGreaterThan(connections));
  expect(lines).toEqual([{ level: 40, reason: message, key: 'animal-store:spec:a', msg: UNCOUNTED }]);
  redis.respond = (args) => redis.count(args);
  await connected();
  expect(lines.slice(1)).toEqual([RECONNECTED]);
  expect(await add()).toMatchObject({ points: 1 });
});

it('a key that Redis does not count is tried again before Redis is used', async () => {
  await connect();
  const reason = 'WRONGTYPE Operation against a key holding the wrong kind of value';
  redis.respond = (args) => (args[3] === 'animal-store:spec:a' ? `-${reason}\r\n` : redis.count(args));
  await add('a');
  const { connections } = redis;
  await waitFor(() => expect(redis.connections).toBeGreaterThan(connections + 1));
  expect(counter.isConnected).toBe(false);
  expect(lines).toEqual([{ level: 40, reason, key: 'animal-store:spec:a', msg: UNCOUNTED }]);
  expect(redis.commands.filter(([, , , key]) => key === 'animal-store:spec:a').slice(1)).toContainEqual([
    ...['EVAL', expect.any(String), '1', 'animal-store:spec:a', '0', '60000'],
  ]);
  redis.respond = (args) => redis.count(args);
  await connected();
});

it.each([
  ['bytes that are not RESP', 'HTTP/1.1 400 Bad Request\r\n\r\n', /^Unknown RESP type/],
  ['another type', '+OK\r\n', 'unexpected response'],
  ['fewer points than were added', '*2\r\n:0\r\n:1000\r\n', 'unexpected response'],
  ['texts', '*2\r\n$1\r\n1\r\n$1\r\n1\r\n', 'unexpected response'],
])('%s instead of a count are a failure', async (_what, response, reason) => {
  await connect();
  redis.respond = ([name]) => (name === 'EVAL' ? response : '+OK\r\n');
  expect(await add()).toBeUndefined();
  expect(counter.isConnected).toBe(false);
  // On a busy machine, a response may have been late before, which is logged too.
  await logged(expect.objectContaining({ level: 40, reason: expect.stringMatching(reason) }));
});

it('an idle connection is checked: one that is lost is noticed without traffic, also if it was not closed', async () => {
  await connect();
  redis.respond = () => undefined;
  await connected(false);
  await logged({ level: 40, reason: 'no response within 250 ms', msg: LOST });
});

it('connects again after the connection was cut, with the requests in progress counted elsewhere', async () => {
  await connect();
  redis.respond = () => undefined;
  const added = [add(), add()];
  redis.cut();
  expect(await Promise.all(added)).toEqual([undefined, undefined]);
  redis.respond = (args) => redis.count(args);
  await connected();
  expect(lines).toEqual([{ level: 40, reason: expect.any(String), msg: LOST }, RECONNECTED]);
  // A second outage is logged too.
  redis.cut();
  await logged(RECONNECTED);
  await waitFor(() => expect(lines).toHaveLength(4));
});

it('a Redis that fails again and again is connected less often', async () => {
  counter.start();
  const delays: number[] = [];
  for (let outage = 0; outage < 4; outage++) {
    await connected();
    const begin = performance.now();
    redis.cut();
    await connected(false);
    await connected();
    delays.push(performance.now() - begin);
  }
  expect(delays.at(-1)).toBeGreaterThanOrEqual(8 * MIN_DELAY_MS);
});

it('no more than 10,000 commands wait for Redis', async () => {
  await connect();
  redis.respond = () => undefined;
  const added = await Promise.all(Array.from({ length: 10_001 }, () => add()));
  expect(added.filter(Boolean)).toEqual([]);
  expect(lines).toEqual([{ level: 40, reason: 'The queue is full', msg: LOST }]);
});

it('each connection reads the URL again, from a file that may be missing meanwhile', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'redis-'));
  const file = join(folder, 'url');
  counter = new RedisCounter({ file }, 'spec', logger);
  counter.start();
  await logged({ level: 40, reason: expect.stringContaining('cannot be read'), msg: LOST });
  await writeFile(file, redis.url.replace('//', '//:secret@'));
  await connected();
  expect(redis.commands[0]).toEqual(['HELLO', '3', 'AUTH', 'default', 'secret']);
  await rm(folder, { recursive: true });
});

it('stops, also while it connects', async () => {
  counter.start();
  counter.stop();
  await sleep(50);
  await waitFor(() => expect(redis.sockets.size).toBe(0));
  expect(counter.isConnected).toBe(false);
  counter = new RedisCounter(redis.url, 'spec', logger);
  await connect();
  counter.stop();
  await waitFor(() => expect(redis.sockets.size).toBe(0));
  expect([counter.isConnected, await add()]).toEqual([false, undefined]);
  expect(lines).toEqual([]);
});

describe('checkRedis', () => {
  it('resolves if Redis counts, and closes the connection', async () => {
    await checkRedis(redis.url, 'spec');
    await waitFor(() => expect(redis.sockets.size).toBe(0));
    expect(redis.connections).toBe(1);
  });

  it.each(['READONLY no', 'NOPERM no'])('rejects if Redis responds to PING, but not to what the service does: %s', async (message) => {
    redis.respond = ([name]) => (name === 'EVAL' ? `-${message}\r\n` : '+OK\r\n');
    await expect(checkRedis(redis.url, 'spec')).rejects.toThrow(message);
  });

  it('rejects if a node of a cluster does not have all keys', async () => {
    redis.respond = (args) => (args[3] === 'animal-store:spec:check:5' ? '-MOVED 1 10.0.0.1:6379\r\n' : redis.count(args));
    await expect(checkRedis(redis.url, 'spec')).rejects.toThrow('MOVED');
  });

  it('rejects if Redis does not respond or is unreachable', async () => {
    redis.respond = () => undefined;
    await expect(checkRedis(redis.url, 'spec')).rejects.toThrow('not connected within 1000 ms');
    await expect(checkRedis('redis://127.0.0.1:1', 'spec')).rejects.toThrow(/ECONNREFUSED/);
  });
});
