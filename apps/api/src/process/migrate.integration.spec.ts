import { jobsPersistence } from '@animal-store/database';
import { createTestDatabase, query, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { readConfig } from './config.js';
import { migrate } from './migrate.js';

const ROLE = 'migrate_spec';

const logger = pino({ level: 'silent' });
let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await database.drop();
  await query(process.env['TEST_POSTGRES_URL'] ?? '', `DROP ROLE IF EXISTS ${ROLE}`);
});

const run = (url: string) => migrate(readConfig({ DATABASE_URL: url, MIGRATION_WAIT_SECONDS: '1' }), [jobsPersistence], logger);
const openConnections = () =>
  query(
    database.url,
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'animal-store-migrations'",
  );

it('leaves no connection open', async () => {
  await run(database.url);
  expect(await openConnections()).toEqual([]);
});

it('leaves no connection open if a migration fails', async () => {
  await query(database.url, `CREATE ROLE ${ROLE} LOGIN PASSWORD 'spec'`);
  const url = new URL(database.url);
  [url.username, url.password] = [ROLE, 'spec'];
  await expect(run(url.href)).rejects.toMatchObject({ code: '42501' });
  expect(await openConnections()).toEqual([]);
});
