import type { RateLimitPolicy } from '@animal-store/http-kit';
import { DomainError } from '@animal-store/kernel';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { RATE_LIMITED } from '../errors/http-errors.js';
import type { Metrics } from '../observability/metrics.js';
import type { Config } from '../config/config.js';
import { addressBucket } from './address-group.js';
import { type Count, type Counter, MemoryCounter, WINDOW_S } from './counter.js';
import { RedisCounters } from './redis-counters.js';

const FAILED_AUTHENTICATIONS = 600;

/** A limit for each of several clients. Limits with the same counter share its counts. */
export class ClientLimit {
  /** https://www.ietf.org/archive/id/draft-ietf-httpapi-ratelimit-headers-10.html */
  readonly policy: string;

  constructor(
    private readonly name: string,
    readonly rateLimit: number,
    readonly counter: Counter,
  ) {
    this.policy = `"${name}";q=${String(rateLimit)};w=${String(WINDOW_S)}`;
  }

  describe(count: Count): string {
    return `"${this.name}";r=${String(Math.max(0, this.rateLimit - count.points))};t=${String(secondsLeft(count))}`;
  }
}

/** The limits for requests of clients and for failed authentications of addresses. */
export class RateLimits implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly redis: RedisCounters | undefined;
  private readonly requests: Counter;
  private readonly failures: Counter;
  /** Limits of clients, by requests per minute. A client's count continues when its limit changes. */
  private readonly limits = new Map<number, ClientLimit>();
  private readonly policies = new Map<string, ClientLimit>();

  constructor(
    private readonly options: Pick<Config, 'rateLimit' | 'redisUrl' | 'environment'>,
    logger: Logger,
    metrics?: Metrics,
  ) {
    const { redisUrl, environment } = options;
    if (redisUrl !== undefined) {
      const redis = (this.redis = new RedisCounters(redisUrl, environment, logger));
      metrics?.observe('redis_connected', '1 while the process counts requests in Redis, otherwise 0.', () => Number(redis.isConnected));
    }
    this.requests = this.createCounter('requests');
    this.failures = this.createCounter('failed-authentications');
  }

  /** Connects to Redis in the background. The service also starts without Redis. */
  onApplicationBootstrap(): void {
    void this.redis?.start();
  }

  onApplicationShutdown(): void {
    this.redis?.stop();
  }

  /** Returns the limit for a client's own rate limit, or the default limit if that is undefined. Returns undefined if there is no limit. */
  limitOfClient(rateLimit = this.options.rateLimit): ClientLimit | undefined {
    if (rateLimit === 0) return undefined;
    let limit = this.limits.get(rateLimit);
    if (!limit) this.limits.set(rateLimit, (limit = new ClientLimit('default', rateLimit, this.requests)));
    return limit;
  }

  /** Returns the limit of a policy, or undefined if there are no limits. */
  limitOfPolicy({ name, requestsPerMinute }: RateLimitPolicy): ClientLimit | undefined {
    if (this.options.rateLimit === 0) return undefined;
    const limit = this.policies.get(name) ?? new ClientLimit(name, requestsPerMinute, this.createCounter(`policies:${name}`));
    this.policies.set(name, limit);
    return limit;
  }

  /** Counts a failed authentication from an address. Returns or resolves to the count if it exceeds the limit. */
  countFailure(address: string): Count | undefined | Promise<Count | undefined> {
    if (this.options.rateLimit === 0) return undefined;
    const exceeded = (count: Count) => (count.points > FAILED_AUTHENTICATIONS ? count : undefined);
    const count = this.failures.add(addressBucket(address));
    return count instanceof Promise ? count.then(exceeded) : exceeded(count);
  }

  private createCounter(name: string): Counter {
    return this.redis?.counter(name) ?? new MemoryCounter();
  }
}

function secondsLeft({ msLeft }: Count): number {
  return Math.min(Math.max(1, Math.ceil(msLeft / 1000)), WINDOW_S);
}

/** Sets Retry-After and returns the error for an exceeded limit. */
export function rateLimitedError(count: Count, reply: FastifyReply): DomainError {
  reply.header('retry-after', String(secondsLeft(count)));
  return new DomainError(RATE_LIMITED);
}
