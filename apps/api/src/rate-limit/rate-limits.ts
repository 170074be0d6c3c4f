import cluster from 'node:cluster';
import type { SecretUrl } from '@animal-store/database';
import { DomainError } from '@animal-store/kernel';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { RATE_LIMITED } from '../errors/http-errors.js';
import type { Metrics } from '../observability/metrics.js';
import { addressBucket } from './address-group.js';
import { type Quota, RateLimiter, type SharedCounter } from './rate-limiter.js';
import type { RedisClient } from './redis.js';
import { createSharedCounter } from './shared-counter.js';

const WINDOW_MS = 60_000;
const FAILED_AUTHENTICATIONS = 600;
/** A limit that is dropped continues from the shared counter. */
const MAX_PARTICULAR_LIMITS = 1_000;

export interface RateLimitsOptions {
  /** Requests per minute of each client without a limit of its own. 0: no limit, and none for failed authentications. */
  readonly rateLimit: number;
  readonly redisUrl: SecretUrl | undefined;
  readonly workers: number;
  /** Services of different environments do not count together, though they may share a Redis. */
  readonly environment: string;
}

/** The limit that some clients have in common. */
export class ClientLimit {
  private readonly policy: string;

  constructor(
    rateLimit: number,
    private readonly limiter: RateLimiter,
  ) {
    // https://www.ietf.org/archive/id/draft-ietf-httpapi-ratelimit-headers-10.html
    this.policy = `"default";q=${String(rateLimit)};w=${String(WINDOW_MS / 1000)}`;
  }

  /** Counts a request of a client. */
  take(clientId: bigint): Quota | Promise<Quota> {
    return this.limiter.take(String(clientId));
  }

  announce({ remaining, resetSeconds }: Quota, reply: FastifyReply): void {
    reply.header('RateLimit-Policy', this.policy).header('RateLimit', `"default";r=${String(remaining)};t=${String(resetSeconds)}`);
  }
}

/** How often clients may ask, and how often an address may fail to authenticate. */
export class RateLimits {
  private readonly general: ClientLimit | undefined;
  /** Limits of clients that have their own, oldest first. */
  private readonly particular = new Map<number, ClientLimit>();
  private readonly createClientLimit: (rateLimit: number) => ClientLimit;
  private readonly failures: RateLimiter | undefined;

  /** Without REDIS_URL, the client of Redis is not even loaded. */
  static async create(options: RateLimitsOptions, logger: Logger, metrics?: Metrics): Promise<RateLimits> {
    const { redisUrl } = options;
    if (redisUrl === undefined) return new RateLimits(options, undefined);
    const { createRedisClient } = await import('./redis.js');
    const redis = createRedisClient(redisUrl, logger);
    metrics?.observeRedis(() => redis.isReady);
    return new RateLimits(options, redis);
  }

  private constructor(
    { rateLimit, workers, environment }: RateLimitsOptions,
    private readonly redis: RedisClient | undefined,
  ) {
    const counterOf = (name: string, limit: number) =>
      createSharedCounter({
        name: `animal-store:${environment}:${name}`,
        limit,
        windowMs: WINDOW_MS,
        isWorker: workers > 1 && cluster.isWorker,
        redis,
      });
    const processes = redis ? undefined : workers;
    const limiter = (limit: number, counter: SharedCounter) => new RateLimiter({ limit, windowMs: WINDOW_MS, processes, counter });
    // One counter for all limits: what a client has sent counts on when its limit changes.
    const requests = counterOf('requests', rateLimit);
    this.createClientLimit = (limit) => new ClientLimit(limit, limiter(limit, requests));
    if (rateLimit === 0) return;
    this.general = this.createClientLimit(rateLimit);
    this.failures = limiter(FAILED_AUTHENTICATIONS, counterOf('failed-authentications', FAILED_AUTHENTICATIONS));
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

  /** Returns the limit of a client, by its own one if it has one; undefined without a limit. */
  ofClient(rateLimit: number | undefined): ClientLimit | undefined {
    if (rateLimit === undefined) return this.general;
    if (rateLimit === 0) return undefined;
    return this.particular.get(rateLimit) ?? this.addParticular(rateLimit);
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

  private addParticular(rateLimit: number): ClientLimit {
    if (this.particular.size >= MAX_PARTICULAR_LIMITS) this.particular.delete(this.particular.keys().next().value ?? 0);
    const limit = this.createClientLimit(rateLimit);
    this.particular.set(rateLimit, limit);
    return limit;
  }
}

/** Returns the error for an exceeded quota, and sets Retry-After. */
export function rateLimited({ resetSeconds }: Quota, reply: FastifyReply): DomainError {
  reply.header('Retry-After', String(resetSeconds));
  return new DomainError(RATE_LIMITED);
}
