import { EventEmitter, once } from 'node:events';
import { beforeEach, expect, it } from '@jest/globals';
import type { PoolClient, PoolConfig } from 'pg';
import { DatabasePool } from './database-pool.js';

/** A client that is connected at once. */
class FakeClient extends EventEmitter {
  readonly connection = Object.assign(new EventEmitter(), {
    stream: { destroy: () => void (this.isDestroyed = true) },
  });
  isDestroyed = false;
  hasEnded = false;
  readonly _queryable = true;
  readonly _ending = false;

  connect(callback: () => void): void {
    callback();
  }

  end(callback?: () => void): Promise<void> {
    this.hasEnded = true;
    callback?.();
    return Promise.resolve();
  }

  ref(): void {}
  unref(): void {}
}

const fake = (client: PoolClient) => client as unknown as FakeClient;
const report = (client: PoolClient, code: string) => fake(client).connection.emit('errorMessage', { code });
const stateOf = (...clients: PoolClient[]) =>
  clients.map((client) => ({ ended: fake(client).hasEnded, destroyed: fake(client).isDestroyed }));
const open = { ended: false, destroyed: false };

let pool: DatabasePool;
let clients: [PoolClient, PoolClient, PoolClient];

beforeEach(async () => {
  pool = new DatabasePool({ Client: FakeClient, max: 3, allowExitOnIdle: true } as unknown as PoolConfig);
  clients = await Promise.all([pool.connect(), pool.connect(), pool.connect()]);
});

it('a server that became read-only is left: idle connections at once, busy ones when they are released', () => {
  const [reporting, busy, idle] = clients;
  idle.release();
  report(reporting, '25006');
  expect(stateOf(reporting, busy, idle)).toEqual([open, open, { ended: false, destroyed: true }]);
  reporting.release();
  busy.release();
  expect(stateOf(reporting, busy)).toEqual([
    { ended: true, destroyed: false },
    { ended: true, destroyed: false },
  ]);
});

it('connections stay open after other errors', () => {
  const [reporting, busy, idle] = clients;
  idle.release();
  report(reporting, '25P02');
  reporting.release();
  busy.release();
  expect(stateOf(...clients)).toEqual([open, open, open]);
});

it('a connection that was in use again is not idle', async () => {
  const [one, other] = clients;
  one.release();
  expect(await pool.connect()).toBe(one);
  report(other, '25006');
  expect(stateOf(one)).toEqual([open]);
});

it('a removed connection is forgotten', async () => {
  const [one, other] = clients;
  const removed = once(pool, 'remove');
  one.release(true);
  await removed;
  report(other, '25006');
  expect(stateOf(one)).toEqual([{ ended: true, destroyed: false }]);
});
