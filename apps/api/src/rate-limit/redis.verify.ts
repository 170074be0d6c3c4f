import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { findFreePort, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { createClient, type RedisClientType } from '@redis/client';
import { pino } from 'pino';
import { Metrics } from '../observability/metrics.js';
import { checkRedis } from '../rate-limit/redis-counter.js';
import { type ClientLimit, RateLimits } from '../rate-limit/rate-limits.js';

// Part of `npm run verify -- redis`: the policies of contexts, which the product does not use yet, and errors of a real Redis.

const POLICY = { name: 'orders', requestsPerMinute: 300 };
const KEY = 'animal-store:test:policies:orders:7';
const UNCOUNTED = 'Redis does not count; counting only the requests of this machine';
const RECONNECTED = 'reconnected to Redis; counting the requests of all machines';

const lines: { msg: string; reason?: string; key?: string }[] = [];
const logger = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) });

let redis: ChildProcess;
let url: string;
/** Sends commands of an administrator. */
let admin: RedisClientType;
const connected: RateLimits[] = [];

beforeAll(async () => {
  const port = await findFreePort();
  url = `redis://127.0.0.1:${port}`;
  redis = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });
  await once(redis, 'spawn').catch((error: unknown) => {
    throw new Error("there is no redis-server: install Debian's package redis-server (apt-get install redis-server)", { cause: error });
  });
  admin = createClient({ url });
  admin.on('error', () => undefined);
  await admin.connect();
});

afterEach(async () => {
  for (const limits of connected.splice(0)) limits.onApplicationShutdown();
  await admin.flushAll();
  lines.length = 0;
});

afterAll(async () => {
  admin.destroy();
  if (redis.pid === undefined) return;
  const exit = once(redis, 'exit');
  redis.kill('SIGKILL');
  await exit;
});

interface Machine {
  readonly limit: ClientLimit;
  readonly expectConnected: (connected: 0 | 1) => Promise<void>;
}

/** Returns another machine with the policy, connected to Redis. */
async function connectMachine(policy = POLICY): Promise<Machine> {
  const metrics = new Metrics();
  const limits = await RateLimits.create({ rateLimit: 6_000, redisUrl: url, environment: 'test' }, logger, metrics);
  limits.onApplicationBootstrap();
  connected.push(limits);
  const expectConnected = (connected: 0 | 1) =>
    waitFor(async () => expect(await metrics.registry.metrics()).toContain(`\nredis_connected ${connected}\n`));
  await expectConnected(1);
  return { limit: limits.limitOfPolicy(policy) as ClientLimit, expectConnected };
}

/** Sends twice the limit, alternating between two machines. Returns how many requests they admit. */
async function admittedBy(machines: readonly [Machine, Machine]): Promise<number> {
  let admitted = 0;
  for (let i = 0; i < 2 * POLICY.requestsPerMinute; i++) {
    const quota = await machines[i % 2 === 0 ? 0 : 1].limit.take(7n);
    expect(quota.resetSeconds).toBeLessThanOrEqual(60);
    if (!quota.isExceeded) admitted++;
  }
  return admitted;
}

it('two machines count the requests of a client for a policy together, separately from the default', async () => {
  const admitted = await admittedBy([await connectMachine(), await connectMachine()]);
  expect(admitted).toBeGreaterThanOrEqual(POLICY.requestsPerMinute);
  expect(admitted).toBeLessThanOrEqual(POLICY.requestsPerMinute * 1.1);
  expect((await admin.keys('*')).filter((key) => !key.includes(':check:'))).toEqual([KEY]);
});

it('no window lasts longer than a minute, also if a key does', async () => {
  await admin.set(KEY, '299');
  const { limit } = await connectMachine();
  expect(await limit.take(7n)).toMatchObject({ isExceeded: false, resetSeconds: 60 });
  expect(await admin.pTTL(KEY)).toBeLessThanOrEqual(60_000);
  // As if the clock of Redis were set back by an hour.
  await admin.pExpire(KEY, 3_660_000);
  const { limit: other } = await connectMachine();
  expect(await other.take(7n)).toMatchObject({ isExceeded: true, resetSeconds: 60 });
  expect(await admin.pTTL(KEY)).toBeLessThanOrEqual(60_000);
});

it.each<[string, () => Promise<unknown>, () => Promise<unknown>, isChecked: boolean]>([
  ['READONLY', () => admin.sendCommand(['REPLICAOF', '127.0.0.1', '1']), () => admin.sendCommand(['REPLICAOF', 'NO', 'ONE']), true],
  ['NOPERM', () => admin.aclSetUser('default', '-eval'), () => admin.aclSetUser('default', '+eval'), true],
  ['OOM', () => admin.configSet('maxmemory', '1'), () => admin.configSet('maxmemory', '0'), true],
  ['WRONGTYPE', () => admin.hSet(KEY, 'a', '1'), () => admin.del(KEY), false],
])('with %s, each machine counts alone and says so once, until it is over', async (code, fail, recover, isChecked) => {
  const machines = [await connectMachine(), await connectMachine()] as const;
  await fail();
  const admitted = await admittedBy(machines);
  expect(admitted).toBeGreaterThanOrEqual(POLICY.requestsPerMinute);
  expect(admitted).toBeLessThanOrEqual(2 * POLICY.requestsPerMinute * 1.1);
  for (const { expectConnected } of machines) await expectConnected(0);
  const uncounted = { level: 40, reason: expect.stringMatching(new RegExp(`^${code} `)), key: expect.any(String), msg: UNCOUNTED };
  expect(lines).toEqual([uncounted, uncounted]);
  if (isChecked) await expect(checkRedis(url, 'test')).rejects.toThrow(code);
  await recover();
  for (const { expectConnected } of machines) await expectConnected(1);
  expect(lines.slice(2).map(({ msg }) => msg)).toEqual([RECONNECTED, RECONNECTED]);
});

it('checkRedis resolves if Redis counts, and rejects if it requires another password', async () => {
  await checkRedis(url, 'test');
  await admin.configSet('requirepass', 'of-tests-only');
  await checkRedis(url.replace('//', '//:of-tests-only@'), 'test');
  await expect(checkRedis(url.replace('//', '//:wrong@'), 'test')).rejects.toThrow(/^WRONGPASS/);
  await expect(checkRedis(url, 'test')).rejects.toThrow(/^NOAUTH/);
  await admin.configSet('requirepass', '');
});
