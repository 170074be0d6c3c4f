import { waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import type { Metrics } from '../observability/metrics.js';
import { FakeRedis } from './testing/fake-redis.js';
import { RateLimits } from './rate-limits.js';
import type { RedisCounter } from './redis-counter.js';

const OPTIONS = { rateLimit: 3, redisUrl: undefined, environment: 'test' };
const CLOSED_PORT = 'redis://127.0.0.1:1';
const logger = pino({ level: 'silent' });
const createLimits = (options: Partial<Parameters<typeof RateLimits.create>[0]> = {}) =>
  RateLimits.create({ ...OPTIONS, ...options }, logger);

describe('the limit of a client', () => {
  it('is stored, up to 1,000 custom limits; the oldest is dropped', async () => {
    const limits = await createLimits();
    const all = Array.from({ length: 1_000 }, (_, i) => limits.limitOfClient(i + 1));
    expect(limits.limitOfClient(1)).toBe(all[0]);
    limits.limitOfClient(2_000);
    expect(limits.limitOfClient(2)).toBe(all[1]);
    expect(limits.limitOfClient(1)).not.toBe(all[0]);
    expect(limits.limitOfClient(3)).toBe(all[2]);
    expect(limits.limitOfClient(2)).not.toBe(all[1]);
  });

  it.each([
    [CLOSED_PORT, [1, 37]],
    [undefined, [1, 150]],
  ])('is reported in batches, with Redis at %s', async (redisUrl, reports) => {
    const limits = await createLimits({ rateLimit: 6_000, redisUrl });
    const counted: number[] = [];
    const { limiter } = limits.limitOfClient(undefined) as unknown as { limiter: object };
    const addToAll = (_key: string, points: number) => {
      counted.push(points);
      return { points: counted.reduce((sum, count) => sum + count), msLeft: 60_000 };
    };
    Object.assign(limiter, { addToAll });
    for (let i = 0; i < 1 + (reports[1] ?? 0); i++) await limits.limitOfClient(undefined)?.take(1n);
    expect(counted).toEqual(reports);
  });
});

describe('with Redis', () => {
  let redis: FakeRedis;
  const connected: RateLimits[] = [];

  beforeEach(async () => {
    redis = await FakeRedis.start();
  });
  afterEach(async () => {
    for (const limits of connected.splice(0)) limits.onApplicationShutdown();
    await redis.stop();
  });

  /** Returns limits that are connected to Redis. */
  async function connect(options: Partial<Parameters<typeof RateLimits.create>[0]> = {}) {
    const limits = await createLimits({ redisUrl: redis.url, ...options });
    limits.onApplicationBootstrap();
    connected.push(limits);
    await waitFor(() => expect((Reflect.get(limits, 'redis') as RedisCounter).isConnected).toBe(true));
    return limits;
  }

  it('its state is a metric', async () => {
    let isConnected: (() => boolean) | undefined;
    const observeRedis = (observe: () => boolean) => (isConnected = observe);
    const limits = await RateLimits.create({ ...OPTIONS, redisUrl: redis.url }, logger, { observeRedis } as unknown as Metrics);
    expect(isConnected?.()).toBe(false);
    connected.push(limits);
    expect(redis.connections).toBe(0);
    limits.onApplicationBootstrap();
    await waitFor(() => expect(isConnected?.()).toBe(true));
  });

  it('disconnects when the service has stopped', async () => {
    const limits = await connect();
    expect(redis.sockets.size).toBe(1);
    limits.onApplicationShutdown();
    await waitFor(() => expect(redis.sockets.size).toBe(0));
  });

  it('the names of the counters contain the environment', async () => {
    const limits = await connect({ environment: 'blue' });
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

  it('two releases with other limits for a policy share its count, and each applies its own limit', async () => {
    const [oldRelease, nextRelease] = [await connect(), await connect()];
    let attempts = 0;
    // On a busy machine, a response after 250 ms lets a release count alone: then again, with another policy.
    await waitFor(async () => {
      const name = `orders-${++attempts}`;
      const [old, next] = [
        oldRelease.limitOfPolicy({ name, requestsPerMinute: 4 }),
        nextRelease.limitOfPolicy({ name, requestsPerMinute: 8 }),
      ];
      const admitted = { old: 0, next: 0 };
      for (let i = 0; i < 10; i++) {
        if (!(await old?.take(1n))?.isExceeded) admitted.old++;
        if (!(await next?.take(1n))?.isExceeded) admitted.next++;
      }
      // The old release rejects from the fifth request on. Those that it rejects do not use up the limit of the next one.
      expect(admitted).toEqual({ old: 2, next: 5 });
    });
  });
});
