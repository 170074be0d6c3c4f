import { setTimeout as sleep } from 'node:timers/promises';
import { readSecret, type SecretUrl, withDeadline } from '@animal-store/database';
import type { Logger } from 'pino';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { type Counter, WINDOW_S } from './counter.js';

/** Maximum time that a request waits for Redis. */
const RESPONSE_TIMEOUT_MS = 250;
const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_DELAY_MS = 500;
/** How often the connection is tried: a Redis that sends what nobody asked for does not respond in time, so it costs bounded memory. */
const PROBE_INTERVAL_MS = 250;
const MAX_REASON_LENGTH = 200;

/**
 * Counters that processes share through Redis. Without a connection, the process counts for itself and requests do not wait. Every failure
 * ends the connection, because the next one may reach another server or have another password.
 */
export class RedisCounters {
  private readonly stopping = new AbortController();
  private readonly options: { readonly keyPrefix: string; readonly points: number; readonly duration: number };
  private readonly memory: RateLimiterMemory;
  private redis: RateLimiterRedis | undefined;
  private end: (reason: unknown) => void = () => undefined;

  constructor(
    private readonly url: SecretUrl,
    environment: string,
    private readonly logger?: Logger,
  ) {
    this.options = { keyPrefix: `animal-store:${environment}`, points: 0, duration: WINDOW_S };
    this.memory = new RateLimiterMemory(this.options);
  }

  get isConnected(): boolean {
    return this.redis !== undefined;
  }

  counter(name: string): Counter {
    return {
      // Unlike `consume`, `penalty` counts without a limit.
      add: async (key) => {
        const { consumedPoints, msBeforeNext } = await (this.redis ?? this.memory).penalty(`${name}:${String(key)}`);
        return { points: consumedPoints, msLeft: msBeforeNext };
      },
    };
  }

  /** Connects in the background, and again after each failure, until `stop`. */
  async start(): Promise<void> {
    const { signal } = this.stopping;
    let isLost = false;
    for (let isStopped = false; !isStopped;) {
      try {
        const { ended, probe } = await this.connect();
        if (isLost) this.logger?.info('reconnected to Redis; counting the requests of all processes');
        isLost = false;
        for (;;) {
          await Promise.race([ended, sleep(PROBE_INTERVAL_MS, undefined, { signal, ref: false })]);
          await probe();
        }
      } catch (error) {
        const { code, message } = error as { readonly code?: string | number; readonly message: string };
        const reason = String(code ?? message).slice(0, MAX_REASON_LENGTH);
        if (!isLost && !signal.aborted) this.logger?.warn({ reason }, 'Redis cannot be used; counting only the requests of this process');
        isLost = true;
      }
      isStopped = await sleep(RECONNECT_DELAY_MS, false, { signal, ref: false }).catch(() => true);
    }
  }

  stop(): void {
    this.stopping.abort();
    this.end(new Error('stopped'));
  }

  /** Resolves when Redis counts. `ended` then rejects with the reason when the connection has ended. */
  async connect(): Promise<{ readonly ended: Promise<never>; readonly probe: () => Promise<unknown> }> {
    // Processes without Redis do not load its client.
    const { createClient } = await import('@redis/client');
    const client = createClient({
      url: readSecret(this.url),
      RESP: 2,
      disableOfflineQueue: true,
      disableClientInfo: true,
      maintNotifications: 'disabled',
      socket: { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: false },
    });
    this.stopping.signal.throwIfAborted();
    const { promise: ended, reject } = Promise.withResolvers<never>();
    let isEnded = false;
    const end = (this.end = (reason) => {
      isEnded = true;
      this.redis = undefined;
      client.destroy();
      reject(reason);
    });
    ended.catch(() => undefined);
    client.on('error', end);
    // The client can close a connection only after it is established.
    client.on('connect', () => isEnded && client.destroy());
    const inTime = async <Result>(work: Promise<Result>, timeoutMs: number) => {
      const result = await Promise.race([withDeadline(work, timeoutMs), ended]);
      if (result === undefined) throw new Error(`no response within ${String(timeoutMs)} ms`);
      return result;
    };
    const storeClient = {
      eval: async (...script: Parameters<typeof client.eval>) => {
        try {
          const reply = await inTime(client.eval(...script), RESPONSE_TIMEOUT_MS);
          if (isCount(reply)) return reply;
          throw new Error('unexpected response');
        } catch (error) {
          end(error);
          throw error;
        }
      },
    };
    const options = { ...this.options, storeClient, useRedisPackage: true };
    const checked = new RateLimiterRedis(options);
    const probe = () => checked.penalty('check');
    try {
      await inTime(client.connect(), CONNECT_TIMEOUT_MS);
      await probe();
    } catch (error) {
      end(error);
      throw error;
    }
    this.redis = new RateLimiterRedis({ ...options, insuranceLimiter: this.memory });
    return { ended, probe };
  }
}

function isCount(reply: unknown): reply is [points: number, msLeft: number] {
  return Array.isArray(reply) && reply.length === 2 && reply.every((part) => Number.isSafeInteger(part)) && reply[0] > 0;
}

/** Connects and counts like the service. Rejects if that fails. */
export async function checkRedis(url: SecretUrl, environment: string): Promise<void> {
  const counters = new RedisCounters(url, environment);
  await counters.connect();
  counters.stop();
}
