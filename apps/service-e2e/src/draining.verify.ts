import { insertKey } from '@animal-store/api-e2e/support/keys';
import { createStoreDatabase, Service } from '@animal-store/api-e2e/support/service';
import { type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client } from 'pg';

// Not part of `npm test`, since it waits for the real period. apps/api tests the shutdown with a shorter one.

let database: TestDatabase;
let key: string;

beforeAll(async () => {
  database = await createStoreDatabase();
  ({ key } = await insertKey(database.url, 'suite'));
});
afterAll(() => database.drop());

// Promise (Starting and stopping): After `SIGTERM`, all requests get responses, and the exit code is 0.
it.each([
  ['SIGTERM', {}],
  ['SIGINT', {}],
  ['SIGTERM', { WORKERS: '2' }],
  ['SIGINT', { WORKERS: '2' }],
] as const)('%s closes requests still running 15 seconds after the drain period and exits with code 0: %o', async (signal, environment) => {
  const service = await Service.start(database.url, { DATABASE_STATEMENT_TIMEOUT_MS: '0', DRAIN_SECONDS: '0', ...environment });
  const other = new Client({ connectionString: database.url });
  await other.connect();
  await other.query('BEGIN');
  await other.query('LOCK TABLE pets.pets IN ACCESS EXCLUSIVE MODE');
  const read = fetch(`${service.url}/v1/pets`, { headers: { Authorization: `Bearer ${key}` } }).catch(() => 'cut');
  const waiting = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'pets.pets'::regclass`;
  await waitFor(async () => expect((await other.query(waiting)).rowCount).toBe(1));
  const stoppedAt = performance.now();
  const exit = service.stop(signal);
  expect(await read).toBe('cut');
  expect(performance.now() - stoppedAt).toBeGreaterThan(14_500);
  expect(await exit).toBe(0);
  expect(service.output).toContain('requests or jobs did not finish in time; closing connections');
  await other.end();
});
