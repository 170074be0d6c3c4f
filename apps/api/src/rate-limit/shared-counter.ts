import { RateLimiterCluster, RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import type { SharedCounter } from './rate-limiter.js';
import type { RedisClient } from './redis-client.js';

const PRIMARY_TIMEOUT_MS = 1_000;

export interface SharedCounterOptions {
  /** Prefix of the keys of this counter. */
  readonly name: string;
  readonly limit: number;
  readonly windowMs: number;
  /** Whether this process is a worker, which counts in its primary process. */
  readonly isWorker: boolean;
  /** Counts across machines. While the connection is lost, each machine counts its own requests. */
  readonly redis: RedisClient | undefined;
}

export function createSharedCounter({ name, limit, windowMs, isWorker, redis }: SharedCounterOptions): SharedCounter {
  const options = { keyPrefix: name, points: limit, duration: windowMs / 1000 };
  const ofMachine = isWorker ? new RateLimiterCluster({ ...options, timeoutMs: PRIMARY_TIMEOUT_MS }) : new RateLimiterMemory(options);
  if (!redis) return ofMachine;
  return new RateLimiterRedis({
    ...options,
    storeClient: redis,
    useRedisPackage: true,
    rejectIfRedisNotReady: true,
    insuranceLimiter: ofMachine,
  });
}
