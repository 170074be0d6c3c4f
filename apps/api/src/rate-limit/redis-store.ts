import { setTimeout as sleep } from 'node:timers/promises';
import { readSecretUrl, type SecretUrl } from '@animal-store/database';
import { createClient } from '@redis/client';
import type { Logger } from 'pino';
import { withDeadline } from '../observability/deadline.js';
import { parseRedisUrl } from './redis-url.js';

/** Maximum time that a request waits for Redis. */
const RESPONSE_TIMEOUT_MS = 250;
/** Until the connection is authenticated. */
const CONNECT_TIMEOUT_MS = 1_000;
/** In a Redis Cluster, a node has only some of the keys. */
const CHECKED_KEYS = 16;
/** Redis does not keep up if this many commands wait for a response. */
const MAX_PENDING_COMMANDS = 10_000;
const MAX_REASON_LENGTH = 200;
const MIN_RECONNECT_DELAY_MS = 50;
const MAX_RECONNECT_DELAY_MS = 1_000;
/** After a connection that lasted as long, the delay is minimal again. Outages are logged no more often. */
const STABLE_MS = 10_000;

/** Adds points in a fixed window, which never lasts longer than its length in seconds. */
export const ADD_POINTS = `
local points = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 or left > 1000 * ARGV[2] then
  redis.call('EXPIRE', KEYS[1], ARGV[2])
  left = 1000 * ARGV[2]
end
return {points, left}`;

type RedisClient = ReturnType<typeof createRedisClient>;

interface Arguments {
  readonly keys: string[];
  readonly arguments: string[];
}

/**
 * The Redis client of `RateLimiterRedis`. Any failure ends its connection, because the next one may reach another server or have another
 * password: a response that is late or not a count, too. While there is no connection, requests do not wait for Redis.
 */
export class RedisStore {
  /** Services of different environments can share a Redis. */
  readonly keyPrefix: string;
  private client: RedisClient | undefined;
  private end: (reason: unknown) => void = () => undefined;
  private readonly stopping = new AbortController();
  private warnedAt = -Infinity;
  private isLost = false;

  constructor(
    private readonly url: SecretUrl,
    environment: string,
    private readonly logger?: Logger,
  ) {
    this.keyPrefix = `animal-store:${environment}`;
  }

  get isReady(): boolean {
    return this.client !== undefined;
  }

  /** Connects in the background, and again after each failure, until `stop`. */
  start(): void {
    void this.keepConnected();
  }

  stop(reason = new Error('stopped')): void {
    this.stopping.abort();
    this.end(reason);
  }

  async eval(script: string, options: Arguments): Promise<[points: number, msLeft: number]> {
    const { client, end } = this;
    if (!client) throw new Error('not connected');
    return countIn(client, script, options).catch((error: unknown) => {
      end(error);
      throw error;
    });
  }

  /** Connects and counts as a check. Resolves with the reason when the connection has ended. */
  async connect(onReady: () => void): Promise<unknown> {
    const ending = Promise.withResolvers<unknown>();
    this.end = ending.resolve;
    let client: RedisClient | undefined;
    try {
      client = createRedisClient(this.url);
      client.on('error', ending.resolve);
      const connecting = client.connect();
      // The client cannot close a socket before it is connected.
      connecting.then(() => this.end !== ending.resolve && client?.destroy()).catch(ending.resolve);
      if (!(await withDeadline(connecting, CONNECT_TIMEOUT_MS))) throw new Error(`not connected within ${String(CONNECT_TIMEOUT_MS)} ms`);
      await this.check(client);
      this.client = client;
      onReady();
      return await ending.promise;
    } catch (error) {
      return error;
    } finally {
      this.client = undefined;
      this.end = () => undefined;
      client?.destroy();
    }
  }

  private async check(client: RedisClient): Promise<void> {
    const keys = Array.from({ length: CHECKED_KEYS }, (_, i) => `${this.keyPrefix}:check:${String(i)}`);
    await Promise.all(keys.map((key) => countIn(client, ADD_POINTS, { keys: [key], arguments: ['0', '1'] })));
  }

  private async keepConnected(): Promise<void> {
    const { signal } = this.stopping;
    const isStopped = () => signal.aborted;
    let delayMs = MIN_RECONNECT_DELAY_MS;
    while (!isStopped()) {
      let readyAt = Infinity;
      const reason = await this.connect(() => {
        readyAt = performance.now();
        if (this.isLost) this.logger?.info('reconnected to Redis; counting the requests of all processes');
        this.isLost = false;
      });
      if (isStopped()) return;
      this.warn(reason);
      if (performance.now() - readyAt >= STABLE_MS) delayMs = MIN_RECONNECT_DELAY_MS;
      await sleep(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
      delayMs = Math.min(2 * delayMs, MAX_RECONNECT_DELAY_MS);
    }
  }

  private warn(error: unknown): void {
    if (this.isLost || performance.now() - this.warnedAt < STABLE_MS) return;
    this.isLost = true;
    this.warnedAt = performance.now();
    this.logger?.warn({ reason: reasonOf(error) }, 'Redis cannot be used; counting only the requests of this process');
  }
}

async function countIn(client: RedisClient, script: string, options: Arguments): Promise<[points: number, msLeft: number]> {
  const reply: unknown = await withDeadline(client.eval(script, options), RESPONSE_TIMEOUT_MS);
  if (reply === undefined) throw new Error(`no response within ${String(RESPONSE_TIMEOUT_MS)} ms`);
  if (!isCount(reply) || reply[0] < Number(options.arguments[0])) throw new Error('unexpected response');
  return reply;
}

function isCount(reply: unknown): reply is [points: number, msLeft: number] {
  return Array.isArray(reply) && reply.length === 2 && reply.every((part) => Number.isSafeInteger(part));
}

function createRedisClient(secret: SecretUrl) {
  const { url, tls, credentials } = parseRedisUrl(readSecretUrl(secret));
  return createClient({
    url,
    ...credentials,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_PENDING_COMMANDS,
    // Messages of the server must change neither timeouts nor the address.
    maintNotifications: 'disabled',
    socket: { ...tls, connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: false },
  });
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return (code ?? message).slice(0, MAX_REASON_LENGTH);
}

/** Connects and counts like the service. Rejects if that fails. */
export async function checkRedis(url: SecretUrl, environment: string): Promise<void> {
  const store = new RedisStore(url, environment);
  const isDone = new Error('counted');
  const reason = await store.connect(() => store.stop(isDone));
  if (reason !== isDone) throw new Error(reasonOf(reason));
}
