import { createTestDatabase, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Database } from '../database.js';
import { migrateUp, migrationStatus, migrationToUndo } from './migrations.js';

let betweenStatements: () => Promise<unknown> = () => Promise.resolve();

class CreateThings1763683200000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE TABLE public.things (id bigint)');
    await betweenStatements();
    await queryRunner.query('CREATE TABLE public.parts (id bigint)');
  }

  async down(): Promise<void> {}
}

class CreateMore1763683260000 implements MigrationInterface {
  up = (queryRunner: QueryRunner) => queryRunner.query('CREATE TABLE public.more (id bigint)') as Promise<void>;
  down = () => Promise.resolve();
}

let database: TestDatabase;
let dataSource: Database;
let admin: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  admin = new Client({ connectionString: database.url });
  await admin.connect();
});

afterAll(async () => {
  await admin.end();
  await database.drop();
});

beforeEach(async () => {
  const persistence = [{ schema: 'public', entities: [], migrations: [CreateThings1763683200000, CreateMore1763683260000] }];
  dataSource = await new Database({ url: database.url, applicationName: 'spec', poolSize: 2, persistence }).initialize();
});

afterEach(async () => {
  betweenStatements = () => Promise.resolve();
  jest.restoreAllMocks();
  await dataSource.destroy();
  await admin.query('DROP TABLE IF EXISTS public.schema_migrations, public.things, public.parts, public.more');
  await admin.query('SELECT pg_advisory_unlock_all()');
});

const tables = async () => {
  const { rows } = await admin.query<{ name: string }>("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1");
  return rows.map(({ name }) => name);
};
const LOCK_HOLDER = "FROM pg_stat_activity WHERE application_name = 'animal-store migration lock' AND datname = current_database()";

it('the migration to undo is the one applied last, whatever the order of the contexts', async () => {
  expect(await migrationToUndo(dataSource)).toBeUndefined();
  const later = class CreateLater1763683320000 extends CreateMore1763683260000 {};
  const open = (migrations: (new () => MigrationInterface)[]) =>
    new Database({
      url: database.url,
      applicationName: 'spec',
      poolSize: 2,
      persistence: migrations.map((migration) => ({ schema: 'public', entities: [], migrations: [migration] })),
    }).initialize();
  const reversed = await open([later, CreateThings1763683200000]);
  await migrateUp(reversed);
  expect((await migrationToUndo(reversed))?.name).toBe('CreateLater1763683320000');
  await reversed.destroy();
  await expect(migrationToUndo(dataSource)).rejects.toThrow('the latest migration, CreateLater1763683320000, is not part of this version');
});

describe('the migration lock', () => {
  it('also protects the table of the migrations', async () => {
    await admin.query('SELECT pg_advisory_lock($1)', [7_302_947_561_038_214n]);
    expect((await migrationStatus(dataSource)).map(({ applied }) => applied)).toEqual([false, false]);
    await expect(migrateUp(dataSource, { timeoutMs: 0 })).rejects.toThrow('another process has been migrating the database for 0 s');
    expect(await tables()).toEqual([]);
  });

  it('stops the migration before the next statement if the lock is lost', async () => {
    betweenStatements = () => admin.query(`SELECT pg_terminate_backend(pid) ${LOCK_HOLDER}`);
    await expect(migrateUp(dataSource)).rejects.toThrow('the connection that holds the migration lock is lost; the migration was stopped');
    expect(await tables()).toEqual(['schema_migrations']);
    // No transaction is left open.
    const { rows } = await dataSource.pool.query(
      "SELECT pid FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND datname = current_database()",
    );
    expect(rows).toEqual([]);

    betweenStatements = () => Promise.resolve();
    expect(await migrateUp(dataSource)).toHaveLength(2);
    await waitFor(async () => expect((await admin.query(`SELECT pid ${LOCK_HOLDER}`)).rows).toEqual([]));
  });
});
