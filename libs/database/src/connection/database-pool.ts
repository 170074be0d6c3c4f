import type { PoolClient, PoolConfig } from 'pg';
import { isSessionUsable } from './error-meaning.js';
import { type ConnectCallback, type IdleItem, PgPool } from './pg-internals.js';
import type { DatabaseClientConfig } from './database-client.js';
import type { Execution, StatementObserver } from './statement.js';

/** Number of connections that stay open while they are idle: for two reads, an insert and a job. */
const KEPT_CONNECTIONS = 4;

/** Everything is passed to each `DatabaseClient`. */
export interface DatabasePoolConfig extends Omit<PoolConfig, keyof DatabaseClientConfig>, Partial<DatabaseClientConfig> {
  readonly observer?: StatementObserver | undefined;
}

/** A pool that keeps its connections after errors of statements, and closes those that cannot be used again. */
export class DatabasePool extends PgPool {
  /** Receives measurements from `PreparedStatement.run`. */
  readonly observer: StatementObserver | undefined;

  constructor({ observer, ...config }: DatabasePoolConfig) {
    // These connections stay open, so that a request after a pause does not wait for a new one, and they need no timer per statement.
    super({ ...config, min: KEPT_CONNECTIONS });
    this.observer = observer;
  }

  /** Like `query`. On an idle connection, it saves the tick, the timer and most listeners of `pg-pool`. */
  execute<Row>(execution: Execution<Row>): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      const callback: ConnectCallback = (error, client, release) => {
        if (!client) {
          reject(error ?? new Error('There is no connection.'));
          return;
        }
        const rows = execution.runOn(client);
        rows.then(() => {
          release();
        }, release);
        resolve(rows);
      };
      const item = this.ending ? undefined : this._idle.pop();
      if (!item) {
        this.connect(callback);
        return;
      }
      clearTimeout(item.timeoutId);
      this._acquireClient(item.client, { callback }, item.idleListener, false);
    });
  }

  /** The pool calls this to make a connection idle, or with an error to close it. An error of a row must not cost a login. */
  override _release(client: PoolClient, idleListener: IdleItem['idleListener'], error?: unknown): void {
    const isUsable = !isInTransaction(client) && (!error || isSessionUsable(error));
    super._release(client, idleListener, isUsable ? undefined : error || true);
  }
}

/** Otherwise, the next statement would be part of a transaction that nobody commits. */
function isInTransaction(client: PoolClient): boolean {
  const status = client.getTransactionStatus();
  return status === 'T' || status === 'E';
}
