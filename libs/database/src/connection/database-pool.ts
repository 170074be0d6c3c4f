import type { Client, PoolClient, PoolConfig } from 'pg';
import type { DatabaseClientConfig } from './database-client.js';
import { isSessionUsable } from './error-meaning.js';
import { type ConnectCallback, PgPool } from './pg-internals.js';
import type { Executor, StatementInterceptor } from './statement.js';

/** Number of connections that stay open while they are idle: for two reads, an insert and a job. */
const KEPT_CONNECTIONS = 4;

/** Everything else is passed to each `DatabaseClient`. */
export interface DatabasePoolConfig extends Omit<PoolConfig, keyof DatabaseClientConfig>, Partial<DatabaseClientConfig> {
  readonly interceptor?: StatementInterceptor | undefined;
}

/** A pool that keeps its connections after errors of statements, and closes those that cannot be used again. */
export class DatabasePool extends PgPool implements Executor {
  readonly interceptor: StatementInterceptor | undefined;

  constructor({ interceptor, ...config }: DatabasePoolConfig) {
    // These connections stay open, so that a request after a pause does not wait for a new one, and they need no timer per statement.
    super({ ...config, min: KEPT_CONNECTIONS });
    this.interceptor = interceptor;
  }

  /** On an idle connection, it saves the tick, the timer and most listeners of `connect`. */
  withClient<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const callback: ConnectCallback = (error, client, release) => {
        if (!client) {
          reject(error ?? new Error('There is no connection.'));
          return;
        }
        const result = work(client);
        result.then(() => release(), release);
        resolve(result);
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

  /** The pool calls this after each use. An error of a row must not cost a login, and nobody may continue a transaction. */
  override _release(client: PoolClient, idleListener: (error: Error) => void, error?: unknown): void {
    const isInTransaction = ['T', 'E'].includes(client.getTransactionStatus() ?? '');
    const isUsable = !isInTransaction && (!error || isSessionUsable(error));
    super._release(client, idleListener, isUsable ? undefined : error || true);
  }
}
