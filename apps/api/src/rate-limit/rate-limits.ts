import type { SecretUrl } from '@animal-store/database';
import type { RateLimitPolicy } from '@animal-store/http-kit';
import { DomainError } from '@animal-store/kernel';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { RATE_LIMITED } from '../errors/http-errors.js';
import type { Metrics } from '../observability/metrics.js';
import { addressBucket } from './address-group.js';
import { type Counter, MemoryCounter, WINDOW_MS } from './counters.js';
import type { RedisCounter } from './redis-counter.js';

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
  private readonly ofProcess = new MemoryCounter();
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
    { rateLimit }: RateLimitsOptions,
    private readonly redis: RedisCounter | undefined,
  ) {
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
    const { redis, ofProcess } = this;
    return new RateLimiter(limit, redis ? undefined : 1, (key, points) =>
      (redis?.isConnected ? redis : ofProcess).add(`${name}:${key}`, points),
    );
  }
}

/** Sets Retry-After and returns the error for an exceeded quota. */
export function rateLimitedError({ resetSeconds }: Quota, reply: FastifyReply): DomainError {
  reply.header('retry-after', String(resetSeconds));
  return new DomainError(RATE_LIMITED);
}

export interface Quota {
  readonly isExceeded: boolean;
  readonly remaining: number;
  /** Time until the window ends and the count is reset. */
  readonly resetSeconds: number;
}

interface Window {
  readonly endsAt: number;
  /** Requests of all processes, as last reported by the shared counter. */
  counted: number;
  /** Requests that this process has reported. */
  reported: number;
  /** Maximum number of requests of this process that are not in `counted`. */
  maxUnconfirmed: number;
  reportEvery: number;
  /** Requests of this process since its last report. */
  unreported: number;
  /** Requests in the report that is being sent. */
  reporting: number;
}

/** Share of the limit by which all processes together may exceed it. */
const OVERSHOOT = 0.1;
/** If the number of processes is unknown, up to this many processes together stay within OVERSHOOT. */
const MAX_PROCESSES = 20;
/** Part of OVERSHOOT that is reserved for the first process that counts a key, as long as no other process counts it. */
const SHARE_OF_ONLY_PROCESS = 0.25;
const REPORTS_PER_SHARE = 4;
const MAX_WINDOWS = 100_000;
/** Maximum difference between two reported end times of the same window. It is caused by network latency. */
const CLOCK_TOLERANCE_MS = 1_000;

/**
 * Counts requests in fixed windows, in memory, and reports them to the shared counter in batches, so that few requests wait for it.
 * A process whose unconfirmed requests reach its share of the overshoot asks the shared counter first. If the number of processes is
 * unknown, the only process that has counted a key so far has a larger share.
 */
export class RateLimiter {
  /** Oldest first. */
  private readonly windows = new Map<string, Window>();
  private readonly share: number;
  private readonly shareOfOnlyProcess: number;

  /**
   * @param limit maximum number of requests in a window
   * @param processes number of processes that share the counter; undefined if it is shared by an unknown number of machines
   * @param addToAll adds points to the count of all processes, like a Counter
   */
  constructor(
    private readonly limit: number,
    processes: number | undefined,
    private readonly addToAll: Counter['add'],
  ) {
    const overshoot = limit * OVERSHOOT;
    this.share = Math.floor(processes === undefined ? (overshoot * (1 - SHARE_OF_ONLY_PROCESS)) / MAX_PROCESSES : overshoot / processes);
    this.shareOfOnlyProcess = processes === undefined ? Math.floor(overshoot * SHARE_OF_ONLY_PROCESS) : this.share;
  }

  /** Counts one request of the key. */
  take(key: string): Quota | Promise<Quota> {
    const now = performance.now();
    const window = this.windows.get(key);
    if (!window || now >= window.endsAt) return this.takeFromSharedCounter(key);
    const unconfirmed = window.unreported + window.reporting;
    const taken = window.counted + unconfirmed;
    if (taken >= this.limit) return this.quota(taken + 1, window.endsAt - now);
    if (unconfirmed >= window.maxUnconfirmed) return this.takeFromSharedCounter(key);
    window.unreported++;
    if (window.unreported >= window.reportEvery && window.reporting === 0) this.report(key, window);
    return this.quota(taken + 1, window.endsAt - now);
  }

  private async takeFromSharedCounter(key: string): Promise<Quota> {
    const { taken, endsAt } = await this.add(key, 1);
    return this.quota(taken, endsAt - performance.now());
  }

  private report(key: string, window: Window): void {
    window.reporting = window.unreported;
    window.unreported = 0;
    void this.add(key, window.reporting, window);
  }

  /**
   * Adds points to the shared counter. Resolves to the number of requests of all processes, including those counted meanwhile.
   * Without a response, the points are only counted in this process.
   */
  private async add(key: string, points: number, reporting?: Window): Promise<{ readonly taken: number; readonly endsAt: number }> {
    const response = await this.addToAll(key, points);
    // In the same turn as `confirm` below, so that the points are counted exactly once.
    if (reporting) reporting.reporting = 0;
    const now = performance.now();
    const known = this.windows.get(key);
    // Nothing lasts longer than a window, whatever the clock of another machine shows.
    const endsAt = now + Math.min(Math.max(response?.msLeft ?? WINDOW_MS, 0), WINDOW_MS);
    const isOver = !known || (response ? endsAt - known.endsAt > CLOCK_TOLERANCE_MS : now >= known.endsAt);
    const window = isOver ? this.open(key, endsAt) : known;
    const counted = response?.points ?? window.counted + points;
    this.confirm(window, points, counted);
    return { taken: counted + window.unreported + window.reporting, endsAt: window.endsAt };
  }

  private open(key: string, endsAt: number): Window {
    this.windows.delete(key);
    if (this.windows.size >= MAX_WINDOWS) this.windows.delete(this.windows.keys().next().value ?? '');
    const window = { endsAt, counted: 0, reported: 0, maxUnconfirmed: 0, reportEvery: 0, unreported: 0, reporting: 0 };
    this.windows.set(key, window);
    return window;
  }

  private confirm(window: Window, points: number, counted: number): void {
    window.counted = Math.max(window.counted, counted);
    window.reported += points;
    // Only the first process that counts a key can have counted all its requests.
    window.maxUnconfirmed = window.reported >= window.counted ? this.shareOfOnlyProcess : this.share;
    window.reportEvery = Math.max(1, Math.floor(window.maxUnconfirmed / REPORTS_PER_SHARE));
  }

  private quota(taken: number, msLeft: number): Quota {
    return {
      isExceeded: taken > this.limit,
      remaining: Math.max(0, this.limit - taken),
      resetSeconds: Math.max(1, Math.ceil(msLeft / 1000)),
    };
  }
}
