import type { Database, DatabaseConnection } from '@animal-store/database';
import { afterEach, expect, it, jest } from '@jest/globals';
import { WorkerGroup } from './worker-messages.js';
import { Metrics } from '../observability/metrics.js';
import { Draining } from '../http/connection.js';
import { Readiness } from './readiness.js';

afterEach(() => {
  jest.useRealTimers();
});

// Promise (Starting and stopping): Readiness requires the database, migrations and all workers.
it('is not ready after 2 s without a response of the database, and ready with its response', async () => {
  jest.useFakeTimers();
  const { promise: response, resolve: respond } = Promise.withResolvers<{ rows: [] }>();
  const query = jest.fn(() => response);
  const database = { migrations: [], pool: { query } } as unknown as Database;
  const readiness = new Readiness(database, { isOpen: true } as DatabaseConnection, new Draining(), new WorkerGroup(), new Metrics());
  const probes = Promise.allSettled([readiness.check(), readiness.check()]);
  await jest.advanceTimersByTimeAsync(1_999);
  const late = readiness.check();
  await jest.advanceTimersByTimeAsync(1);
  const reason: unknown = expect.objectContaining({
    code: 'service_unavailable',
    message: 'The database does not respond.',
    reason: 'database',
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
  const database = { migrations: [], pool: { query: () => Promise.reject(cause) } } as unknown as Database;
  const readiness = new Readiness(database, { isOpen: true } as DatabaseConnection, new Draining(), new WorkerGroup(), new Metrics());
  await expect(readiness.check()).rejects.toMatchObject({ reason: 'database', cause });
});
