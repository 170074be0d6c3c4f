import pg, { type PoolClient, type PoolConfig } from 'pg';

/**
 * Everything that this library takes from the inside of `pg-pool`, which no documentation promises. `pg-internals.spec.ts` fails when the
 * version of `pg-pool` changes, so that this file is read beside the new code.
 */
interface PoolInternals {
  readonly _idle: IdleItem[];
  newClient(item: PendingItem): void;
  _release(client: PoolClient, idleListener: IdleItem['idleListener'], error?: unknown): void;
  _acquireClient(client: PoolClient, item: PendingItem, idleListener: IdleItem['idleListener'], isNew: boolean): void;
}

export type ConnectCallback = (error: Error | undefined, client: PoolClient | undefined, release: (error?: unknown) => void) => void;

/** A request for a connection. */
export interface PendingItem {
  readonly callback: ConnectCallback;
  readonly timedOut?: boolean;
}

/** An idle connection. */
export interface IdleItem {
  readonly client: PoolClient;
  readonly idleListener: (error: Error) => void;
  /** The timer that closes the connection. */
  readonly timeoutId: NodeJS.Timeout | undefined;
}

export const PgPool = pg.Pool as unknown as new (config: PoolConfig) => pg.Pool & PoolInternals;
