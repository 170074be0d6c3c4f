import { setTimeout as sleep } from 'node:timers/promises';
import { readSecretUrl, type SecretUrl } from '@animal-store/database';
import { createClient, ErrorReply } from '@redis/client';
import type { Logger } from 'pino';
import { withDeadline } from '../observability/deadline.js';
import { type Count, type Counter, RESPONSE_TIMEOUT_MS } from './counters.js';
import { parseRedisUrl } from './redis-url.js';

/** Until the connection is authenticated. */
const CONNECT_TIMEOUT_MS = 1_000;
const CHECK_INTERVAL_MS = 1_000;
/** In a Redis Cluster, a node has only some of the keys. */
const CHECKED_KEYS = 16;
/** Redis does not keep up if this many commands wait for a response. */
const MAX_PENDING_COMMANDS = 10_000;
const MAX_REASON_LENGTH = 200;
const MIN_RECONNECT_DELAY_MS = 50;
const MAX_RECONNECT_DELAY_MS = 1_000;
/** After a connection that lasted as long, the delay is minimal again. A Redis that fails again and again is not asked more often. */
const STABLE_MS = 10_000;

/** Adds points in a fixed window, which never lasts longer than its length. */
const ADD = `
local points = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 or left > tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  left = tonumber(ARGV[2])
end
return {points, left}`;

interface Key {
  readonly name: string;
  readonly windowMs: number;
}

/** Why a connection ended. */
interface Failure {
  /** Code of the error, or its message. */
  readonly reason: string;
  /** What Redis did not count although it responded. */
  readonly uncounted?: Key;
}

/** A Redis connection that counts keys. Any failure ends it: the next one may reach another server or have another password. */
class RedisConnection {
  private readonly ending = Promise.withResolvers<Failure>();
  private client: ReturnType<typeof createRedisClient> | undefined;
  private checking: NodeJS.Timeout | undefined;
  private state: 'opening' | 'usable' | 'ended' = 'opening';

  constructor(
    private readonly url: SecretUrl,
    private readonly environment: string,
  ) {}

  get isUsable(): boolean {
    return this.state === 'usable';
  }

  /** Resolves when the connection has ended. */
  get ended(): Promise<Failure> {
    return this.ending.promise;
  }

  /**
   * Connects and counts as a check, which is repeated every second. Resolves to whether the connection is usable.
   * @param uncounted what an earlier connection did not count
   */
  async open(uncounted?: Key): Promise<boolean> {
    try {
      await this.connect();
    } catch (error) {
      this.end(failureOf(error));
    }
    const checks = Array.from({ length: CHECKED_KEYS }, (_, i) => ({ name: `check:${i}`, windowMs: CHECK_INTERVAL_MS }));
    await Promise.all([...checks, ...(uncounted ? [uncounted] : [])].map((key) => this.add(key, 0)));
    if (this.state !== 'opening') return false;
    this.state = 'usable';
    this.checking = setInterval(() => void this.add({ name: 'check:0', windowMs: CHECK_INTERVAL_MS }, 0), CHECK_INTERVAL_MS).unref();
    return true;
  }

  /** Adds points to a key. If that fails, the connection ends. Never rejects. */
  async add(key: Key, points: number): Promise<Count | undefined> {
    const { client, state } = this;
    if (!client || state === 'ended') return undefined;
    try {
      const keys = [redisKey(this.environment, key)];
      const command = client.eval(ADD, { keys, arguments: [String(points), String(key.windowMs)] });
      const reply: unknown = await withDeadline(command, RESPONSE_TIMEOUT_MS);
      if (isCount(reply) && reply[0] >= points) return { points: reply[0], msLeft: reply[1] };
      if (reply === undefined) this.end({ reason: `no response within ${String(RESPONSE_TIMEOUT_MS)} ms` });
      else this.end({ reason: 'unexpected response', uncounted: key });
    } catch (error) {
      this.end({ ...failureOf(error), ...(error instanceof ErrorReply && { uncounted: key }) });
    }
    return undefined;
  }

  close(): void {
    this.end({ reason: 'closed' });
  }

  private async connect(): Promise<void> {
    const client = (this.client = createRedisClient(this.url));
    client.on('error', (error) => this.end(failureOf(error)));
    const connecting = client.connect();
    // The client cannot close a socket before it is connected.
    connecting.then(() => this.state === 'ended' && client.destroy()).catch(() => undefined);
    if (!(await withDeadline(connecting, CONNECT_TIMEOUT_MS))) throw new Error(`not connected within ${String(CONNECT_TIMEOUT_MS)} ms`);
  }

  private end(failure: Failure): void {
    if (this.state === 'ended') return;
    this.state = 'ended';
    clearInterval(this.checking);
    this.ending.resolve(failure);
    this.client?.destroy();
  }
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

/** Returns the name of a counter in Redis, which services of different environments can share. */
function redisKey(environment: string, { name }: Key): string {
  return `animal-store:${environment}:${name}`;
}

function failureOf(error: unknown): Failure {
  const { code, message } = error as NodeJS.ErrnoException;
  return { reason: (code ?? message).slice(0, MAX_REASON_LENGTH) };
}

function isCount(reply: unknown): reply is [points: number, msLeft: number] {
  return Array.isArray(reply) && reply.length === 2 && reply.every((part) => Number.isSafeInteger(part));
}

/** Counts the requests of all machines in Redis. While Redis cannot be used, `add` resolves to undefined at once. */
export class RedisCounter implements Counter {
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

  add(name: string, points: number, windowMs: number): Promise<Count | undefined> {
    const { connection } = this;
    return connection?.isUsable ? connection.add({ name, windowMs }, points) : Promise.resolve(undefined);
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
    let uncounted: Key | undefined;
    while (!isStopped()) {
      const connection = (this.connection = new RedisConnection(this.url, this.environment));
      const isUsable = await connection.open(uncounted);
      const openedAt = performance.now();
      if (isUsable) this.onConnected();
      const failure = await connection.ended;
      if (isStopped()) return;
      this.onLost(failure);
      uncounted = failure.uncounted ?? (isUsable ? undefined : uncounted);
      if (isUsable && performance.now() - openedAt >= STABLE_MS) delayMs = MIN_RECONNECT_DELAY_MS;
      await sleep(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
      delayMs = Math.min(2 * delayMs, MAX_RECONNECT_DELAY_MS);
    }
  }

  private onConnected(): void {
    if (this.isLost) this.logger.info('reconnected to Redis; counting the requests of all machines');
    this.isLost = false;
  }

  private onLost({ reason, uncounted }: Failure): void {
    if (this.isLost) return;
    this.isLost = true;
    const lost = uncounted ? 'Redis does not count' : 'the connection to Redis is lost';
    this.logger.warn(
      { reason, ...(uncounted && { key: redisKey(this.environment, uncounted) }) },
      `${lost}; counting only the requests of this machine`,
    );
  }
}

/** Connects and counts like the service. Rejects if that fails. */
export async function checkRedis(url: SecretUrl, environment: string): Promise<void> {
  const connection = new RedisConnection(url, environment);
  if (!(await connection.open())) throw new Error((await connection.ended).reason);
  connection.close();
}
