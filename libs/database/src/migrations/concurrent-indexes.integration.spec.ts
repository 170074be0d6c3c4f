import { createTestDatabase, query, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Database } from '../database.js';
import { migrateUp } from './migrations.js';

/** Of the role or the database, in ms. The index takes longer. */
const STATEMENT_TIMEOUT_MS = 300;
let statement = '';

class IndexThings1763683200000 implements MigrationInterface {
  readonly transaction = false;
  up = (queryRunner: QueryRunner) => queryRunner.query(statement) as Promise<void>;
  down = () => Promise.resolve();
}

let database: TestDatabase;
let dataSource: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  await query(
    database.url,
    `CREATE SCHEMA "odd.shop"`,
    `CREATE FUNCTION "odd.shop".slow(id int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_catalog.pg_sleep(0.2); RETURN id; END $$`,
  );
  const persistence = [{ schema: 'odd.shop', entities: [], migrations: [IndexThings1763683200000] }];
  const name = new URL(database.url).pathname.slice(1);
  for (const timeout of ['statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout']) {
    // `transaction_timeout` exists from PostgreSQL 17 on.
    await query(process.env['TEST_POSTGRES_URL'] ?? '', `ALTER DATABASE ${name} SET ${timeout} = ${String(STATEMENT_TIMEOUT_MS)}`).catch(
      (error: unknown) => expect(error).toMatchObject({ code: '42704' }),
    );
  }
  dataSource = await new Database({ url: database.url, applicationName: 'spec', poolSize: 1, persistence }).initialize();
});

beforeEach(async () => {
  // TypeORM logs each failure.
  jest.spyOn(console, 'log').mockImplementation(() => undefined);
  await dataSource.query('DROP TABLE IF EXISTS "odd.shop".things, public.schema_migrations');
  await dataSource.query('CREATE TABLE "odd.shop".things AS SELECT 1 AS id FROM generate_series(1, 3)');
});

afterAll(async () => {
  jest.restoreAllMocks();
  await dataSource.destroy();
  await database.drop();
});

const indexes = () =>
  dataSource.query<unknown[]>(
    `SELECT relname AS name, indisvalid AS "isValid" FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indrelid = '"odd.shop".things'::regclass`,
  );

it('an index is built, however short the timeouts of the database are', async () => {
  statement = 'CREATE INDEX CONCURRENTLY things_idx ON "odd.shop".things ("odd.shop".slow(id))';
  await migrateUp(dataSource);
  expect(await indexes()).toEqual([{ name: 'things_idx', isValid: true }]);
});

it.each([
  'CREATE UNIQUE INDEX CONCURRENTLY things_idx ON "odd.shop".things (id)',
  'CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS things_idx ON "odd.shop".things (id)',
  '\n      create unique index concurrently "things_idx"\n      on "odd.shop"."things" USING btree (id)',
])('an invalid index that %j has left is replaced', async (text) => {
  statement = text;
  await expect(migrateUp(dataSource)).rejects.toMatchObject({ code: '23505' });
  expect(await indexes()).toEqual([{ name: 'things_idx', isValid: false }]);
  await dataSource.query('DELETE FROM "odd.shop".things WHERE ctid <> (SELECT min(ctid) FROM "odd.shop".things)');
  await migrateUp(dataSource);
  expect(await indexes()).toEqual([{ name: 'things_idx', isValid: true }]);
});

it('a valid index is not replaced', async () => {
  await dataSource.query('CREATE INDEX things_idx ON "odd.shop".things (id)');
  statement = 'CREATE INDEX CONCURRENTLY things_idx ON "odd.shop".things (id)';
  await expect(migrateUp(dataSource)).rejects.toMatchObject({ code: '42P07' });
});
