import type { SecretUrl } from '@animal-store/database';
import type { RateLimitPolicy } from '@animal-store/http-kit';
import { DomainError } from '@animal-store/kernel';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { RATE_LIMITED } from '../errors/http-errors.js';
import type { Metrics } from '../observability/metrics.js';
import { addressBucket } from './address-group.js';
import type { RedisStore } from './redis-store.js';

const FAILED_AUTHENTICATIONS = 600;
const WINDOW_S = 60;
const DEFAULT_POLICY = 'default';
/** Part of a header and of the names of counters. */
const POLICY_NAME = /^[a-z][a-z0-9-]*$/;

export interface RateLimitsOptions {
  /** Requests per minute of each client without its own limit. 0 disables this limit, the policies, and the limit of failed authentications. */
  readonly rateLimit: number;
  readonly redisUrl: SecretUrl | undefined;
  /** Part of the names of the counters, so that services of different environments can share a Redis. */
  readonly environment: string;
}

export interface Quota {
  readonly isExceeded: boolean;
  readonly remaining: number;
  /** Time until the window ends and the count is reset. */
  readonly resetSeconds: number;
}

/** One rate limit, for all clients that have it. Each client is counted separately. */
export class ClientLimit {
  /** https://www.ietf.org/archive/id/draft-ietf-httpapi-ratelimit-headers-10.html */
  readonly policy: string;

  /** @param counter Limits with the same counter share the counts of a client. */
  constructor(
    readonly rateLimit: number,
    private readonly name: string,
    private readonly limiter: RateLimiterAbstract,
    private readonly counter: string,
  ) {
    this.policy = `"${name}";q=${String(rateLimit)};w=${String(WINDOW_S)}`;
  }

  /** Counts a request of a client. */
  take(clientId: bigint): Promise<Quota> {
    return this.limiter.penalty(`${this.counter}:${String(clientId)}`).then((count) => quotaOf(count, this.rateLimit));
  }

  /** Returns the RateLimit header. */
  describe({ remaining, resetSeconds }: Quota): string {
    return `"${this.name}";r=${String(remaining)};t=${String(resetSeconds)}`;
  }
}

/**
 * The limits for requests of clients and for failed authentications of addresses. The limiter counts every limit: its `penalty` counts
 * without a limit of its own, so that a client's count continues when its limit changes.
 */
export class RateLimits implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly defaultLimit: ClientLimit;
  /** Limits of policies, by name. */
  private readonly policies = new Map<string, ClientLimit>();

  /** Loads the Redis client only if REDIS_URL is set. */
  static async create(options: RateLimitsOptions, logger: Logger, metrics?: Metrics): Promise<RateLimits> {
    const { redisUrl, environment } = options;
    const limiterOptions = { keyPrefix: '', points: 0, duration: WINDOW_S };
    const memory = new RateLimiterMemory(limiterOptions);
    if (redisUrl === undefined) return new RateLimits(options, memory);
    const { ADD_POINTS, RedisStore } = await import('./redis-store.js');
    const store = new RedisStore(redisUrl, environment, logger);
    metrics?.observeRedis(() => store.isReady);
    const redis = new RateLimiterRedis({
      ...limiterOptions,
      keyPrefix: store.keyPrefix,
      storeClient: store,
      useRedisPackage: true,
      rejectIfRedisNotReady: true,
      customIncrTtlLuaScript: ADD_POINTS,
      insuranceLimiter: memory,
    });
    return new RateLimits(options, redis, store);
  }

  private constructor(
    private readonly options: RateLimitsOptions,
    private readonly limiter: RateLimiterAbstract,
    private readonly store?: RedisStore,
  ) {
    this.defaultLimit = this.createClientLimit(options.rateLimit);
  }

  /** Connects to Redis in the background. The service also starts without Redis. */
  onApplicationBootstrap(): void {
    this.store?.start();
  }

  onApplicationShutdown(): void {
    this.store?.stop();
  }

  /** Returns the limit for a client's own rate limit, or the default limit if that is undefined. Returns undefined if there is no limit. */
  limitOfClient(rateLimit: number | undefined): ClientLimit | undefined {
    if (rateLimit === undefined) return this.options.rateLimit === 0 ? undefined : this.defaultLimit;
    return rateLimit === 0 ? undefined : this.createClientLimit(rateLimit);
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
    const limit = this.policies.get(name) ?? new ClientLimit(requestsPerMinute, name, this.limiter, `policies:${name}`);
    this.policies.set(name, limit);
    if (limit.rateLimit !== requestsPerMinute)
      throw new Error(`The rate limit "${name}" is declared with ${limit.rateLimit} and with ${requestsPerMinute} requests per minute.`);
    return this.options.rateLimit === 0 ? undefined : limit;
  }

  /** Counts a failed authentication from an address. Resolves to undefined if there is no limit. */
  async countFailure(address: string): Promise<Quota | undefined> {
    if (this.options.rateLimit === 0) return undefined;
    return quotaOf(await this.limiter.penalty(`failed-authentications:${addressBucket(address)}`), FAILED_AUTHENTICATIONS);
  }

  private createClientLimit(rateLimit: number): ClientLimit {
    return new ClientLimit(rateLimit, DEFAULT_POLICY, this.limiter, 'requests');
  }
}

function quotaOf({ consumedPoints, msBeforeNext }: RateLimiterRes, limit: number): Quota {
  return {
    isExceeded: consumedPoints > limit,
    remaining: Math.max(0, limit - consumedPoints),
    resetSeconds: Math.min(Math.max(1, Math.ceil(msBeforeNext / 1000)), WINDOW_S),
  };
}

/** Sets Retry-After and returns the error for an exceeded quota. */
export function rateLimitedError({ resetSeconds }: Quota, reply: FastifyReply): DomainError {
  reply.header('retry-after', String(resetSeconds));
  return new DomainError(RATE_LIMITED);
}
