import { setTimeout as sleep } from 'node:timers/promises';
import type { SecretUrl } from '@animal-store/database';
import type { Logger } from 'pino';
import { RedisConnection, type RedisFailure, redisKey } from './redis-connection.js';
import type { Count, SharedCounter } from './shared-counter.js';

const MIN_RECONNECT_DELAY_MS = 50;
const MAX_RECONNECT_DELAY_MS = 1_000;
/** After a connection that lasted as long, the delay is minimal again. A Redis that fails again and again is not asked more often. */
const STABLE_MS = 10_000;

/** Counts the requests of all machines in Redis. While Redis cannot be used, `add` resolves to undefined at once. */
export class RedisCounter implements SharedCounter {
  private connection: RedisConnection | undefined;
  private isLost = false;
  private readonly stopping = new AbortController();

  constructor(
    private readonly url: SecretUrl,
    private readonly environment: string,
    private readonly logger: Logger,
  ) {}

  /** Whether requests are counted in Redis. */
  get isConnected(): boolean {
    return this.connection?.isUsable ?? false;
  }

  add(key: string, points: number, windowMs: number): Promise<Count | undefined> {
    const { connection } = this;
    return connection?.isUsable ? connection.add(key, points, windowMs) : Promise.resolve(undefined);
  }

  /** Connects in the background, and again after each failure, until `stop`. */
  start(): void {
    void this.keepConnected();
  }

  stop(): void {
    this.stopping.abort();
    this.connection?.close();
  }

  private async keepConnected(): Promise<void> {
    const { signal } = this.stopping;
    const isStopped = () => signal.aborted;
    let delayMs = MIN_RECONNECT_DELAY_MS;
    let rejected: RedisFailure['rejected'];
    while (!isStopped()) {
      const connection = (this.connection = new RedisConnection(this.url, this.environment));
      const isUsable = await connection.open(rejected);
      const openedAt = performance.now();
      if (isUsable) this.onConnected();
      const failure = await connection.ended;
      if (isStopped()) return;
      this.onLost(failure);
      rejected = failure.rejected ?? (isUsable ? undefined : rejected);
      if (isUsable && performance.now() - openedAt >= STABLE_MS) delayMs = MIN_RECONNECT_DELAY_MS;
      await sleep(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
      delayMs = Math.min(2 * delayMs, MAX_RECONNECT_DELAY_MS);
    }
  }

  private onConnected(): void {
    if (this.isLost) this.logger.info('reconnected to Redis; counting the requests of all machines');
    this.isLost = false;
  }

  private onLost({ reason, rejected }: RedisFailure): void {
    if (this.isLost) return;
    this.isLost = true;
    const lost = rejected ? 'Redis does not count' : 'the connection to Redis is lost';
    this.logger.warn(
      { reason, ...(rejected && { key: redisKey(this.environment, rejected.key) }) },
      `${lost}; counting only the requests of this machine`,
    );
  }
}
