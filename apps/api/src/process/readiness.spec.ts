import type { Database } from '@animal-store/database';
import { afterEach, expect, it, jest } from '@jest/globals';
import { Metrics } from '../observability/metrics.js';
import { Draining } from '../http/connection.js';
import { Readiness } from './readiness.js';

afterEach(() => {
  jest.useRealTimers();
});

it('is not ready after 2 s without a response of the database, and ready with its response', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  const { promise: response, resolve: respond } = Promise.withResolvers<{ rows: [] }>();
  const query = jest.fn(() => response);
  const database = { hasOpened: true, migrations: [], pool: { query } } as unknown as Database;
  const readiness = new Readiness(database, new Draining(), new Metrics());
  const probes = Promise.allSettled([readiness.check(), readiness.check()]);
  await jest.advanceTimersByTimeAsync(1_999);
  const late = readiness.check();
  await jest.advanceTimersByTimeAsync(1);
  const reason: unknown = expect.objectContaining({
    code: 'service_unavailable',
    message: 'The database does not respond.',
  });
  const rejected = { status: 'rejected', reason };
  expect(await probes).toEqual([rejected, rejected]);
  respond({ rows: [] });
  await late;
  expect(query).toHaveBeenCalledTimes(1);
  await readiness.check();
  expect(query).toHaveBeenCalledTimes(2);
  expect(jest.getTimerCount()).toBe(0);
});

it('names the cause if the query fails', async () => {
  const cause = new Error('ECONNREFUSED');
  const database = { hasOpened: true, migrations: [], pool: { query: () => Promise.reject(cause) } } as unknown as Database;
  const readiness = new Readiness(database, new Draining(), new Metrics());
  await expect(readiness.check()).rejects.toMatchObject({ message: 'The database does not respond.', cause });
});

it('metrics have the state of the migrations before the service connects, and the last one while the database is unavailable', async () => {
  let applied: readonly string[] | Error = ['One1700000000001'];
  const query = jest.fn(() =>
    Error.isError(applied) ? Promise.reject(applied) : Promise.resolve({ rows: applied.map((name) => ({ name })) }),
  );
  const migrations = ['One1700000000001', 'Two1700000000002'].map((name) => ({ name }));
  const metrics = new Metrics();
  const database = { hasOpened: false, migrations, pool: { query } } as unknown as Database;
  const readiness = new Readiness(database, new Draining(), metrics);
  const lines = async () =>
    (await metrics.registry.metrics()).split('\n').filter((line) => /^(?:database_migration|service_ready)/.test(line));
  const pending = ['database_migrations_pending 1', 'service_ready 0'];
  expect((await lines()).sort()).toEqual(pending);
  applied = new Error('connect ECONNREFUSED');
  expect((await lines()).sort()).toEqual(pending);
  database.hasOpened = true;
  applied = migrations.map(({ name }) => name);
  query.mockClear();
  expect((await lines()).sort()).toEqual(['database_migrations_pending 0', 'service_ready 1']);
  expect(query).toHaveBeenCalledTimes(1);
  await readiness.check();
});
