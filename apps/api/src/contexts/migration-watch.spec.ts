import type { Database } from '@animal-store/database';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Metrics } from '../observability/metrics.js';
import { MigrationWatch } from './migration-watch.js';

const EVERY_SECOND = 1_000;
const EVERY_MINUTE = 60_000;
const MIGRATIONS = ['One1700000000001', 'Two1700000000002'];

/** Names of the applied migrations; an error while the database is unavailable. */
let applied: readonly string[] | Error;
let queries: number;
let metrics: Metrics;
let watch: MigrationWatch;

beforeEach(() => {
  jest.useFakeTimers();
  queries = 0;
  const query = () => {
    queries++;
    return Error.isError(applied) ? Promise.reject(applied) : Promise.resolve({ rows: applied.map((name) => ({ name })) });
  };
  const database = { pool: { query }, migrations: MIGRATIONS.map((name) => ({ name })) };
  metrics = new Metrics();
  watch = new MigrationWatch(database as unknown as Database, metrics);
});

afterEach(() => {
  watch.onApplicationShutdown();
  jest.useRealTimers();
});

/** Returns the number of pending migrations and the latest applied one, as in the metrics. */
async function state(): Promise<{ pending: string | undefined; latest: string | undefined }> {
  const text = await metrics.registry.metrics();
  return { pending: /^database_migrations_pending (\S+)$/m.exec(text)?.[1], latest: /latest="(\w+)"\} 1$/m.exec(text)?.[1] };
}

it('reads the state every second until all migrations are applied, then once a minute', async () => {
  applied = MIGRATIONS.slice(0, 1);
  watch.onApplicationBootstrap();
  await jest.advanceTimersByTimeAsync(0);
  expect(await state()).toEqual({ pending: '1', latest: MIGRATIONS[0] });
  applied = MIGRATIONS;
  await jest.advanceTimersByTimeAsync(EVERY_SECOND - 1);
  expect(queries).toBe(1);
  await jest.advanceTimersByTimeAsync(1);
  expect(queries).toBe(2);
  expect(await state()).toEqual({ pending: '0', latest: MIGRATIONS[1] });
  await jest.advanceTimersByTimeAsync(EVERY_MINUTE - 1);
  expect(queries).toBe(2);
  await jest.advanceTimersByTimeAsync(1);
  expect(queries).toBe(3);
});

it('keeps the last state while the database is unavailable, and reads the next one afterwards', async () => {
  applied = new Error('connect ECONNREFUSED');
  watch.onApplicationBootstrap();
  await jest.advanceTimersByTimeAsync(0);
  expect(await state()).toEqual({ pending: 'Nan', latest: undefined });
  applied = MIGRATIONS;
  await jest.advanceTimersByTimeAsync(EVERY_SECOND);
  applied = new Error('connect ECONNREFUSED');
  await jest.advanceTimersByTimeAsync(EVERY_MINUTE);
  expect(queries).toBe(3);
  expect(await state()).toEqual({ pending: '0', latest: MIGRATIONS[1] });
  applied = MIGRATIONS.slice(0, 1);
  await jest.advanceTimersByTimeAsync(EVERY_MINUTE);
  expect(await state()).toEqual({ pending: '1', latest: MIGRATIONS[0] });
});

it('stops when the process shuts down, also during a query', async () => {
  applied = MIGRATIONS;
  watch.onApplicationBootstrap();
  watch.onApplicationShutdown();
  await jest.advanceTimersByTimeAsync(0);
  expect(jest.getTimerCount()).toBe(0);
  watch.onApplicationBootstrap();
  await jest.advanceTimersByTimeAsync(0);
  expect(queries).toBe(2);
});
