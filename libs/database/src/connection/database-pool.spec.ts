import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { PoolClient, PoolConfig } from 'pg';
import { DatabasePool } from './database-pool.js';
import { PreparedStatement } from '../statements/prepared-statement.js';

/** A client that is connected at once. */
class FakeClient extends EventEmitter {
  readonly connection = Object.assign(new EventEmitter(), {
    stream: { destroy: () => void (this.isDestroyed = true) },
  });
  isDestroyed = false;
  hasEnded = false;
  readonly _queryable = true;
  readonly _ending = false;

  readonly running: ((error: unknown, rows?: unknown[]) => void)[] = [];

  connect(callback: () => void): void {
    callback();
  }

  query({ callback }: { callback: (error: unknown, rows?: unknown[]) => void }): void {
    this.running.push(callback);
  }

  end(callback?: () => void): Promise<void> {
    this.hasEnded = true;
    callback?.();
    return Promise.resolve();
  }

  getTransactionStatus(): string {
    return 'I';
  }

  ref(): void {}
  unref(): void {}
}

const fake = (client: PoolClient) => client as unknown as FakeClient;
const stateOf = (...clients: PoolClient[]) =>
  clients.map((client) => ({ ended: fake(client).hasEnded, destroyed: fake(client).isDestroyed }));
const PICK = new PreparedStatement('pick', 'SELECT', () => undefined);

let pool: DatabasePool;
let clients: [PoolClient, PoolClient, PoolClient];

beforeEach(async () => {
  pool = new DatabasePool({ Client: FakeClient, max: 3, allowExitOnIdle: true } as unknown as PoolConfig);
  clients = await Promise.all([pool.connect(), pool.connect(), pool.connect()]);
});

describe('idle connections', () => {
  const idleTimeoutMillis = 20;
  const open = (max: number) => {
    pool = new DatabasePool({ Client: FakeClient, max, idleTimeoutMillis } as unknown as PoolConfig);
    return Promise.all(Array.from({ length: max }, () => pool.connect()));
  };

  it('are closed, except four', async () => {
    for (const client of await open(6)) client.release();
    await sleep(10 * idleTimeoutMillis);
    expect(pool.totalCount).toBe(4);
  });

  it('are not closed while they execute a statement', async () => {
    const [first, ...others] = (await open(5)) as [PoolClient, ...PoolClient[]];
    first.release();
    void pool.withClient((client) => PICK.runOn(client, []));
    await sleep(10 * idleTimeoutMillis);
    expect(stateOf(first)).toEqual([{ ended: false, destroyed: false }]);
    for (const client of others) client.release();
    fake(first).running[0]?.(null, []);
    await pool.end();
  });
});

describe('withClient', () => {
  const execute = () => pool.withClient((client) => PICK.runOn(client, []));

  it('uses an idle connection at once, and makes it idle again', async () => {
    const [idle] = clients;
    idle.release();
    const rows = execute();
    expect(fake(idle).running).toHaveLength(1);
    expect(pool.idleCount).toBe(0);
    fake(idle).running[0]?.(null, ['row']);
    expect(await rows).toEqual(['row']);
    expect([pool.idleCount, pool.totalCount]).toEqual([1, 3]);
  });

  it('rejects with the error of the statement, and closes the connection like `query`', async () => {
    const [idle] = clients;
    idle.release();
    const rows = execute();
    fake(idle).running[0]?.(new Error('no'));
    await expect(rows).rejects.toThrow('no');
    expect(stateOf(idle)).toEqual([{ ended: true, destroyed: false }]);
    expect(pool.totalCount).toBe(2);
  });

  it('waits if no connection is idle', async () => {
    const [busy] = clients;
    const rows = execute();
    expect(pool.waitingCount).toBe(1);
    busy.release();
    await new Promise((resolve) => setImmediate(resolve));
    fake(busy).running[0]?.(null, ['row']);
    expect(await rows).toEqual(['row']);
  });

  it('rejects after the end of the pool', async () => {
    clients[0].release();
    void pool.end();
    await expect(execute()).rejects.toThrow('Cannot use a pool after calling end on the pool');
  });
});
