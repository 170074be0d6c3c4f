import cluster from 'node:cluster';
import type { SecretUrl } from '@animal-store/database';
import type { RateLimitPolicy } from '@animal-store/http-contract';
import { DomainError } from '@animal-store/kernel';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { RATE_LIMITED } from '../errors/http-errors.js';
import type { Metrics } from '../observability/metrics.js';
import { addressBucket } from './address-group.js';
import { type Counter, MemoryCounter, SupervisorCounter } from './counters.js';
import { type Quota, RateLimiter } from './rate-limiter.js';
import type { RedisCounter } from './redis-counter.js';

/** Other releases share the counts, so another length requires other names of the counters. */
const WINDOW_MS = 60_000;
const FAILED_AUTHENTICATIONS = 600;
/** Maximum number of ClientLimits in memory. If a dropped one is created again, it continues with the counts of the shared counter. */
const MAX_CUSTOM_LIMITS = 1_000;
const DEFAULT_POLICY = 'default';
/** Part of a header and of the names of counters. */
const POLICY_NAME = /^[a-z][a-z0-9-]*$/;

export interface RateLimitsOptions {
  /** Requests per minute of each client without its own limit. 0 disables this limit, the policies, and the limit of failed authentications. */
  readonly rateLimit: number;
  readonly redisUrl: SecretUrl | undefined;
  readonly workers: number;
  /** Part of the names of the counters, so that services of different environments can share a Redis. */
  readonly environment: string;
}

/** One rate limit, for all clients that have it. Each client is counted separately. */
export class ClientLimit {
  /** https://www.ietf.org/archive/id/draft-ietf-httpapi-ratelimit-headers-10.html */
  readonly policy: string;

  constructor(
    readonly rateLimit: number,
    private readonly limiter: RateLimiter,
    private readonly name: string,
  ) {
    this.policy = `"${name}";q=${String(rateLimit)};w=${String(WINDOW_MS / 1000)}`;
  }

  /** Counts a request of a client. */
  take(clientId: bigint): Quota | Promise<Quota> {
    return this.limiter.take(String(clientId));
  }

  /** Returns the RateLimit header. */
  describe({ remaining, resetSeconds }: Quota): string {
    return `"${this.name}";r=${String(remaining)};t=${String(resetSeconds)}`;
  }
}

/** The limits for requests of clients and for failed authentications of addresses. */
export class RateLimits implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly ofMachine: Counter;
  private readonly defaultLimit: ClientLimit | undefined;
  /** Limits of clients that have their own, oldest first. */
  private readonly customLimits = new Map<number, ClientLimit>();
  /** Limits of policies, by name. */
  private readonly policies = new Map<string, ClientLimit>();
  private readonly failures: RateLimiter | undefined;

  /** Loads the Redis client only if REDIS_URL is set. */
  static async create(options: RateLimitsOptions, logger: Logger, metrics?: Metrics): Promise<RateLimits> {
    const { redisUrl, environment } = options;
    if (redisUrl === undefined) return new RateLimits(options, undefined);
    const { RedisCounter } = await import('./redis-counter.js');
    const redis = new RedisCounter(redisUrl, environment, logger);
    metrics?.observeRedis(() => redis.isConnected);
    return new RateLimits(options, redis);
  }

  private constructor(
    private readonly options: RateLimitsOptions,
    private readonly redis: RedisCounter | undefined,
  ) {
    const { rateLimit, workers } = options;
    this.ofMachine = workers > 1 && cluster.isWorker ? new SupervisorCounter() : new MemoryCounter();
    if (rateLimit === 0) return;
    this.defaultLimit = this.createClientLimit(rateLimit);
    this.failures = this.createLimiter('failed-authentications', FAILED_AUTHENTICATIONS);
  }

  /** Connects to Redis in the background. The service also starts without Redis. */
  onApplicationBootstrap(): void {
    this.redis?.start();
  }

  onApplicationShutdown(): void {
    this.redis?.stop();
  }

  /** Returns the limit for a client's own rate limit, or the default limit if that is undefined. Returns undefined if there is no limit. */
  limitOfClient(rateLimit: number | undefined): ClientLimit | undefined {
    if (rateLimit === undefined) return this.defaultLimit;
    if (rateLimit === 0) return undefined;
    return this.customLimits.get(rateLimit) ?? this.addCustomLimit(rateLimit);
  }

  /**
   * Returns the limit of a policy, or undefined if RATE_LIMIT is 0.
   * @throws Error if the name is invalid, or if another policy with this name has a different limit
   */
  limitOfPolicy({ name, requestsPerMinute }: RateLimitPolicy): ClientLimit | undefined {
    if (!POLICY_NAME.test(name) || name === DEFAULT_POLICY)
      throw new Error(
        `The rate limit "${name}" must have a name of lower-case letters, digits and hyphens other than "${DEFAULT_POLICY}".`,
      );
    let limit = this.policies.get(name);
    if (!limit) {
      limit = new ClientLimit(requestsPerMinute, this.createLimiter(`policies:${name}`, requestsPerMinute), name);
      this.policies.set(name, limit);
    }
    if (limit.rateLimit !== requestsPerMinute)
      throw new Error(`The rate limit "${name}" is declared with ${limit.rateLimit} and with ${requestsPerMinute} requests per minute.`);
    return this.defaultLimit && limit;
  }

  /** Counts a failed authentication from an address. Returns undefined if there is no limit. */
  countFailure(address: string): Quota | Promise<Quota> | undefined {
    return this.failures?.take(addressBucket(address));
  }

  private addCustomLimit(rateLimit: number): ClientLimit {
    if (this.customLimits.size >= MAX_CUSTOM_LIMITS) this.customLimits.delete(this.customLimits.keys().next().value ?? 0);
    const limit = this.createClientLimit(rateLimit);
    this.customLimits.set(rateLimit, limit);
    return limit;
  }

  /** All limits share the counts of a client, so these continue when its limit changes, also with a new release. */
  private createClientLimit(rateLimit: number): ClientLimit {
    return new ClientLimit(rateLimit, this.createLimiter('requests', rateLimit), DEFAULT_POLICY);
  }

  private createLimiter(name: string, limit: number): RateLimiter {
    const { redis, ofMachine } = this;
    return new RateLimiter({
      limit,
      windowMs: WINDOW_MS,
      processes: redis ? undefined : this.options.workers,
      addToAll: (key, points) => (redis?.isConnected ? redis : ofMachine).add(`${name}:${key}`, points, WINDOW_MS),
    });
  }
}

/** Sets Retry-After and returns the error for an exceeded quota. */
export function rateLimitedError({ resetSeconds }: Quota, reply: FastifyReply): DomainError {
  reply.header('retry-after', String(resetSeconds));
  return new DomainError(RATE_LIMITED);
}
