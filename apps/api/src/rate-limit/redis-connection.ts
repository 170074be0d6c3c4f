import type { SecretUrl } from '@animal-store/database';
import { createClient, ErrorReply } from '@redis/client';
import { redisConnectionOptions } from './redis-url.js';
import { type Count, RESPONSE_TIMEOUT_MS } from './shared-counter.js';
import { withDeadline } from './with-deadline.js';

/** Until the connection is authenticated. */
const CONNECT_TIMEOUT_MS = 1_000;
const CHECK_INTERVAL_MS = 1_000;
/** In a Redis Cluster, a node has only some of the keys. */
const CHECKED_KEYS = 16;
/** Redis does not keep up if this many commands wait for a response. */
const MAX_PENDING_COMMANDS = 10_000;
const MAX_REASON_LENGTH = 200;

/** Adds points in a fixed window, which never lasts longer than its length. */
const ADD = `
local points = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 or left > tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  left = tonumber(ARGV[2])
end
return {points, left}`;

interface CountedKey {
  readonly key: string;
  readonly windowMs: number;
}

/** Why a connection ended. */
export interface RedisFailure {
  /** Code of the error, or its message. */
  readonly reason: string;
  /** What Redis did not count although it responded. */
  readonly rejected?: CountedKey;
}

/** Returns the name of a counter in Redis, which services of different environments can share. */
export function redisKey(environment: string, key: string): string {
  return `animal-store:${environment}:${key}`;
}

/** A connection that counts in Redis. Any failure ends it: the next one may reach another server or have another password. */
export class RedisConnection {
  private readonly ending = Promise.withResolvers<RedisFailure>();
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
  get ended(): Promise<RedisFailure> {
    return this.ending.promise;
  }

  /**
   * Connects and counts as a check, which is repeated every second. Resolves to whether the connection is usable.
   * @param rejected what an earlier connection did not count
   */
  async open(rejected?: CountedKey): Promise<boolean> {
    try {
      await this.connect();
    } catch (error) {
      this.end(failureOf(error));
    }
    const checks = Array.from({ length: CHECKED_KEYS }, (_, i) => ({ key: `check:${i}`, windowMs: CHECK_INTERVAL_MS }));
    await Promise.all([...checks, ...(rejected ? [rejected] : [])].map(({ key, windowMs }) => this.add(key, 0, windowMs)));
    if (this.state !== 'opening') return false;
    this.state = 'usable';
    this.checking = setInterval(() => void this.add('check:0', 0, CHECK_INTERVAL_MS), CHECK_INTERVAL_MS).unref();
    return true;
  }

  /** Adds points to a key. If that fails, the connection ends. Never rejects. */
  async add(key: string, points: number, windowMs: number): Promise<Count | undefined> {
    const { client, state } = this;
    if (!client || state === 'ended') return undefined;
    try {
      const command = client.eval(ADD, { keys: [redisKey(this.environment, key)], arguments: [String(points), String(windowMs)] });
      const reply: unknown = await withDeadline(command, RESPONSE_TIMEOUT_MS);
      if (isCount(reply) && reply[0] >= points) return { points: reply[0], msLeft: reply[1] };
      if (reply === undefined) this.end({ reason: `no response within ${String(RESPONSE_TIMEOUT_MS)} ms` });
      else this.end({ reason: 'unexpected response', rejected: { key, windowMs } });
    } catch (error) {
      this.end({ ...failureOf(error), ...(error instanceof ErrorReply && { rejected: { key, windowMs } }) });
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

  private end(failure: RedisFailure): void {
    if (this.state === 'ended') return;
    this.state = 'ended';
    clearInterval(this.checking);
    this.ending.resolve(failure);
    this.client?.destroy();
  }
}

function createRedisClient(url: SecretUrl) {
  const { socket, ...connection } = redisConnectionOptions(url);
  return createClient({
    ...connection,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_PENDING_COMMANDS,
    // Messages of the server must change neither timeouts nor the address.
    maintNotifications: 'disabled',
    socket: { ...socket, connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: false },
  });
}

function failureOf(error: unknown): RedisFailure {
  const { code, message } = error as NodeJS.ErrnoException;
  return { reason: (code ?? message).slice(0, MAX_REASON_LENGTH) };
}

function isCount(reply: unknown): reply is [points: number, msLeft: number] {
  return Array.isArray(reply) && reply.length === 2 && reply.every((part) => Number.isSafeInteger(part));
}
