import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { readSecretUrl, type SecretUrl } from '@animal-store/database';
import type { Logger } from 'pino';
import { type Count, type Counter, MemoryCounter, WINDOW_S } from './counter.js';
import { RedisConnection } from './redis-connection.js';
import { parseRedisUrl } from './redis-url.js';

/** Maximum time that a request waits for Redis. */
const RESPONSE_TIMEOUT_MS = 250;
const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_DELAY_MS = 500;
/** Outages are logged no more often. */
const LOG_INTERVAL_MS = 10_000;

const ADD_POINT = `
local points = redis.call('INCR', KEYS[1])
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return {points, redis.call('PTTL', KEYS[1])}`;

/** Counters that processes share through Redis. Without a connection, the process counts for itself and requests do not wait. */
export class RedisCounters {
  private readonly stopping = new AbortController();
  private connection: RedisConnection | undefined;
  private warnedAt = -Infinity;
  private isLost = false;

  constructor(
    private readonly url: SecretUrl,
    private readonly environment: string,
    private readonly logger?: Logger,
  ) {}

  get isConnected(): boolean {
    return this.connection !== undefined;
  }

  counter(name: string): Counter {
    const memory = new MemoryCounter();
    return {
      add: (key) => {
        if (!this.connection) return memory.add(key);
        return this.count(this.connection, `${name}:${String(key)}`).catch(() => memory.add(key));
      },
    };
  }

  /** Connects in the background, and again after each failure, until `stop`. */
  start(): void {
    void this.keepConnected();
  }

  stop(): void {
    this.stopping.abort();
  }

  /** Resolves when Redis counts. */
  async connect(): Promise<RedisConnection> {
    const { host, port, tls, commands } = parseRedisUrl(readSecretUrl(this.url));
    const socket = tls ? connectTls({ host, port, ...tls }) : connect({ host, port });
    const connection = new RedisConnection(socket, this.stopping.signal);
    const replies = commands.map((command) => connection.send(CONNECT_TIMEOUT_MS, ...command));
    await Promise.all([...replies, this.count(connection, 'check', CONNECT_TIMEOUT_MS)]);
    return connection;
  }

  private async count(connection: RedisConnection, key: string, timeoutMs = RESPONSE_TIMEOUT_MS): Promise<Count> {
    const name = `animal-store:${this.environment}:${key}`;
    const [points, msLeft] = await connection.send(timeoutMs, 'EVAL', ADD_POINT, '1', name, String(WINDOW_S));
    return points > 0 ? { points, msLeft } : connection.end(new Error('unexpected response'));
  }

  private async keepConnected(): Promise<void> {
    const { signal } = this.stopping;
    const isStopped = () => signal.aborted;
    while (!isStopped()) {
      try {
        this.connection = await this.connect();
        if (this.isLost) this.logger?.info('reconnected to Redis; counting the requests of all processes');
        this.isLost = false;
        await this.connection.ended;
      } catch (error) {
        if (!isStopped()) this.warn(error as NodeJS.ErrnoException);
      }
      this.connection = undefined;
      await sleep(RECONNECT_DELAY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  private warn({ code, message }: NodeJS.ErrnoException): void {
    if (this.isLost || performance.now() - this.warnedAt < LOG_INTERVAL_MS) return;
    this.isLost = true;
    this.warnedAt = performance.now();
    this.logger?.warn({ reason: code ?? message }, 'Redis cannot be used; counting only the requests of this process');
  }
}

/** Connects and counts like the service. Rejects if that fails. */
export async function checkRedis(url: SecretUrl, environment: string): Promise<void> {
  const counters = new RedisCounters(url, environment);
  await counters.connect();
  counters.stop();
}
