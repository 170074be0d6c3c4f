import { jobsPersistence } from '@animal-store/database';
import { createTestDatabase, query, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
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
/** A session ends shortly after its connection is closed. */
const expectNoConnection = () =>
  waitFor(async () => {
    const sessions = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'animal-store-migrations'";
    expect(await query(database.url, sessions)).toEqual([]);
  });

it('leaves no connection open', async () => {
  await run(database.url);
  await expectNoConnection();
});

it('leaves no connection open if a migration fails', async () => {
  await query(database.url, `CREATE ROLE ${ROLE} LOGIN PASSWORD 'spec'`);
  const url = new URL(database.url);
  [url.username, url.password] = [ROLE, 'spec'];
  await expect(run(url.href)).rejects.toMatchObject({ code: '42501' });
  await expectNoConnection();
});
