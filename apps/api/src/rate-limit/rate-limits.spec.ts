import { waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { Metrics } from '../observability/metrics.js';
import { RateLimits } from './rate-limits.js';
import { FakeRedis } from './testing/fake-redis.js';

let redis: FakeRedis;
const connected: RateLimits[] = [];

beforeEach(async () => {
  redis = await FakeRedis.start();
});
afterEach(async () => {
  for (const limits of connected.splice(0)) limits.onApplicationShutdown();
  await redis.stop();
});

/** Returns the limits of a process that is connected to Redis, which its metric shows. */
async function connect(environment = 'test') {
  const metrics = new Metrics();
  const limits = await RateLimits.create({ rateLimit: 3, redisUrl: redis.url, environment }, pino({ level: 'silent' }), metrics);
  connected.push(limits);
  const expectConnected = (isConnected: 0 | 1) =>
    waitFor(async () => expect(await metrics.registry.metrics()).toContain(`\nredis_connected ${isConnected}\n`));
  await expectConnected(0);
  limits.onApplicationBootstrap();
  await expectConnected(1);
  return { limits, expectConnected };
}

it('the names of the counters contain the environment', async () => {
  const { limits } = await connect('blue');
  redis.commands.length = 0;
  await limits.limitOfClient(undefined)?.take(7n);
  await limits.limitOfClient(5)?.take(7n);
  await limits.limitOfPolicy({ name: 'orders', requestsPerMinute: 5 })?.take(7n);
  await limits.countFailure('192.0.2.1');
  expect(redis.commands.map(([, , , key]) => key)).toEqual([
    'animal-store:blue:requests:7',
    'animal-store:blue:requests:7',
    'animal-store:blue:policies:orders:7',
    expect.stringMatching(/^animal-store:blue:failed-authentications:\d+$/),
  ]);
});

it('processes share the counts of a client, and each counts for itself while Redis does not respond', async () => {
  const [one, other] = [await connect(), await connect()];
  const take = async ({ limits }: typeof one) => (await limits.limitOfClient(undefined)?.take(1n))?.remaining;
  // On a busy machine, a response after 250 ms lets a process count for itself.
  await waitFor(async () => {
    redis.reset();
    expect([await take(one), await take(other), await take(one)]).toEqual([2, 1, 0]);
  });
  redis.respond = () => undefined;
  const [first] = await Promise.all([take(one), one.expectConnected(0)]);
  expect([first, await take(one)]).toEqual([2, 1]);
  redis.respond = (args) => redis.count(args);
  await one.expectConnected(1);
});

it('stops with the service', async () => {
  const { limits } = await connect();
  limits.onApplicationShutdown();
  await waitFor(() => expect(redis.sockets.size).toBe(0));
});

it('counts the failures of any number of addresses with a bounded number of keys', async () => {
  const limits = await RateLimits.create({ rateLimit: 3, redisUrl: undefined, environment: 'test' }, pino({ level: 'silent' }));
  for (let i = 0; i < 30_000; i++) await limits.countFailure(`2001:db8:${(i >> 8).toString(16)}:${(i & 255).toString(16)}::1`);
  const { limiter } = limits as unknown as { limiter: { dump(): { storage: unknown[] } } };
  expect(limiter.dump().storage.length).toBeGreaterThan(10_000);
  expect(limiter.dump().storage.length).toBeLessThanOrEqual(16_384);
});
