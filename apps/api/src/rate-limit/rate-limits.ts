import cluster from 'node:cluster';
import type { SecretUrl } from '@animal-store/database';
import { DomainError } from '@animal-store/kernel';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { RATE_LIMITED } from '../errors/http-errors.js';
import type { Metrics } from '../observability/metrics.js';
import { addressBucket } from './address-group.js';
import { type Quota, RateLimiter } from './rate-limiter.js';
import type { RedisClient } from './redis.js';
import { createSharedCounter } from './shared-counter.js';

const WINDOW_MS = 60_000;
const FAILED_AUTHENTICATIONS = 600;

export interface RateLimitsOptions {
  /** Requests per client and minute; 0 for no limits at all. */
  readonly rateLimit: number;
  readonly redisUrl: SecretUrl | undefined;
  readonly workers: number;
  /** Services of different environments do not count together, though they may share a Redis. */
  readonly environment: string;
}

/** How often clients may ask, and how often an address may fail to authenticate. */
export class RateLimits {
  private readonly clients: RateLimiter | undefined;
  private readonly failures: RateLimiter | undefined;
  private readonly policy: string;

  /** Without REDIS_URL, the client of Redis is not even loaded. */
  static async create(options: RateLimitsOptions, logger: Logger, metrics?: Metrics): Promise<RateLimits> {
    const { rateLimit, redisUrl } = options;
    if (rateLimit === 0 || redisUrl === undefined) return new RateLimits(options, undefined);
    const { createRedisClient } = await import('./redis.js');
    const redis = createRedisClient(redisUrl, logger);
    metrics?.observeRedis(() => redis.isReady);
    return new RateLimits(options, redis);
  }

  private constructor(
    { rateLimit, workers, environment }: RateLimitsOptions,
    private readonly redis: RedisClient | undefined,
  ) {
    // https://www.ietf.org/archive/id/draft-ietf-httpapi-ratelimit-headers-10.html
    this.policy = `"default";q=${String(rateLimit)};w=${String(WINDOW_MS / 1000)}`;
    if (rateLimit === 0) return;
    const limiter = (name: string, limit: number) =>
      new RateLimiter({
        limit,
        windowMs: WINDOW_MS,
        processes: redis ? undefined : workers,
        counter: createSharedCounter({
          name: `animal-store:${environment}:${name}`,
          limit,
          windowMs: WINDOW_MS,
          isWorker: workers > 1 && cluster.isWorker,
          redis,
        }),
      });
    this.clients = limiter('requests', rateLimit);
    this.failures = limiter('failed-authentications', FAILED_AUTHENTICATIONS);
  }

  /** Connects to Redis for as long as the server runs, in the background: the server starts without it as well. */
  connectWith(fastify: FastifyInstance): void {
    const { redis } = this;
    if (!redis) return;
    fastify.addHook('onReady', (done) => {
      redis.connect().catch(() => undefined);
      done();
    });
    fastify.addHook('onClose', (_instance, done) => {
      if (redis.isOpen) redis.destroy();
      done();
    });
  }

  /** Counts a request of a client; undefined without a limit. */
  ofClient(clientId: bigint): Quota | Promise<Quota> | undefined {
    return this.clients?.take(String(clientId));
  }

  /** Counts a failed authentication from an address; undefined without a limit. */
  ofFailure(address: string): Quota | Promise<Quota> | undefined {
    return this.failures?.take(addressBucket(address));
  }

  /** Returns what the address counts as if it has failed to authenticate too often, otherwise undefined. */
  limitedAddress(address: string): string | undefined {
    const bucket = addressBucket(address);
    return this.failures?.isSpent(bucket) ? bucket : undefined;
  }

  announce({ remaining, resetSeconds }: Quota, reply: FastifyReply): void {
    reply.header('RateLimit-Policy', this.policy).header('RateLimit', `"default";r=${String(remaining)};t=${String(resetSeconds)}`);
  }
}

/** Returns the error for an exceeded quota, and sets Retry-After. */
export function rateLimited({ resetSeconds }: Quota, reply: FastifyReply): DomainError {
  reply.header('Retry-After', String(resetSeconds));
  return new DomainError(RATE_LIMITED);
}
