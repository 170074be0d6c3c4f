import type { PoolClient, PoolConfig, Submittable } from 'pg';
import { READ_ONLY } from './database-client.js';
import { isSessionUsable } from './error-meaning.js';
import { type ConnectCallback, type IdleItem, type PendingItem, PgPool } from './pg-internals.js';
import type { SecretUrl } from './secret-url.js';
import type { Execution, StatementObserver } from './statement.js';

/** too_many_connections: of the server, the database or the role. */
const TOO_MANY_CONNECTIONS = '53300';
/** Number of connections that stay open while they are idle: for two reads, an insert and a job. */
const KEPT_CONNECTIONS = 4;
/** Time until the pool tries to grow again. */
const GROW_AGAIN_AFTER_MS = 1_000;

export interface DatabasePoolConfig extends PoolConfig {
  /** Passed to each `DatabaseClient`. */
  readonly url?: SecretUrl;
  /** Called when the server accepts no further connection, at most once until it accepts one again. */
  readonly onLimited?: ((error: Error) => void) | undefined;
  readonly observer?: StatementObserver | undefined;
}

/**
 * A pool that leaves a server that became read-only: it closes idle connections immediately and the others on release. If the server
 * accepts no further connection, statements wait for the open ones.
 */
export class DatabasePool extends PgPool {
  /** Receives measurements from `PreparedStatement.run`. */
  readonly observer: StatementObserver | undefined;
  private readonly closeOnRelease = new WeakSet<PoolClient>();
  private readonly max = this.options.max;
  private readonly onLimited: DatabasePoolConfig['onLimited'];
  private isLimited = false;
  private isReported = false;

  constructor({ onLimited, observer, ...config }: DatabasePoolConfig) {
    // These connections stay open, so that a request after a pause does not wait for a new one, and they need no timer per statement.
    super({ ...config, min: KEPT_CONNECTIONS });
    this.onLimited = onLimited;
    this.observer = observer;
    this.on('connect', (client) => {
      if (!this.isLimited) this.isReported = false;
      client.connection.on('errorMessage', ({ code }: { code?: string }) => {
        if (code === READ_ONLY) this.leaveServer();
      });
    });
  }

  /** Like `query`. On an idle connection, it saves the tick, the timer and most listeners of `pg-pool`. */
  execute<Row>(execution: Execution<Row>): Promise<Row[]> {
    const item = this.ending ? undefined : this._idle.pop();
    if (!item) return super.query(execution as unknown as Submittable) as unknown as Promise<Row[]>;
    clearTimeout(item.timeoutId);
    return new Promise((resolve) => {
      const callback: ConnectCallback = (_error, _client, release) => {
        const rows = execution.runOn(item.client);
        rows.then(() => {
          release();
        }, release);
        resolve(rows);
      };
      this._acquireClient(item.client, { callback }, item.idleListener, false);
    });
  }

  /** The pool calls this to open a connection. */
  override newClient(item: PendingItem): void {
    // Concurrent logins may all be rejected, so a statement fails only if its login was the only one.
    const isOnly = this.isLimited && this.totalCount === 0;
    const callback: ConnectCallback = (error, client, release) => {
      if (isOnly || !isTooManyConnections(error)) {
        item.callback(error, client, release);
        return;
      }
      this.limit(error);
      this.connect((waitError, waited, releaseWaited) => {
        if (item.timedOut) waited?.release();
        else item.callback(waitError, waited, releaseWaited);
      });
    };
    super.newClient(Object.create(item, { callback: { value: callback } }) as PendingItem);
  }

  /** The pool calls this to make a connection idle, or with an error to close it. An error of a row must not cost a login. */
  override _release(client: PoolClient, idleListener: IdleItem['idleListener'], error?: unknown): void {
    const isUsable = !this.closeOnRelease.has(client) && !isInTransaction(client) && (!error || isSessionUsable(error));
    super._release(client, idleListener, isUsable ? undefined : error || true);
  }

  /** Makes the pool full, so that it queues statements until a connection is released. */
  private limit(error: Error): void {
    const connected = this._clients.filter(({ processID }) => processID !== null);
    this.options.max = Math.max(1, connected.length);
    if (!this.isReported) this.onLimited?.(error);
    this.isReported = true;
    if (this.isLimited) return;
    this.isLimited = true;
    setTimeout(() => {
      this.isLimited = false;
      this.options.max = this.max;
    }, GROW_AGAIN_AFTER_MS).unref();
  }

  private leaveServer(): void {
    for (const client of this._clients) this.closeOnRelease.add(client);
    // The pool handles this as if the server had closed the connections.
    for (const { client } of this._idle) client.connection.stream.destroy();
  }
}

/** Otherwise, the next statement would be part of a transaction that nobody commits. */
function isInTransaction(client: PoolClient): boolean {
  const status = client.getTransactionStatus();
  return status === 'T' || status === 'E';
}

function isTooManyConnections(error: unknown): error is Error {
  const { code, errors } = (error ?? {}) as { code?: unknown; errors?: unknown };
  return code === TOO_MANY_CONNECTIONS || (Array.isArray(errors) && errors.some(isTooManyConnections));
}
