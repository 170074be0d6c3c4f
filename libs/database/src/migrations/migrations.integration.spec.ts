import { createTestDatabase, query, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import type { QueryRunner } from 'typeorm';
import { Database, migrationStatus, pendingMigrations } from '../database.js';
import { ForwardMigration, migrateUp, MigrationError, withoutLockTimeout } from './migrations.js';

const MIGRATION_LOCK = 7_302_947_561_038_214n;

/** The last statement of the migration without a transaction. */
let statement = '';
const settings: unknown[] = [];

class CreateShop1763683200000 extends ForwardMigration {
  override async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA shop');
    await queryRunner.query('CREATE TABLE shop.lines (id bigint)');
  }
}

/** PostgreSQL rejects CREATE INDEX CONCURRENTLY inside a transaction. */
class IndexLines1763683200001 extends ForwardMigration {
  readonly transaction = false;

  override async up(queryRunner: QueryRunner): Promise<void> {
    const show = async () => settings.push(...((await queryRunner.query('SHOW lock_timeout')) as unknown[]));
    await show();
    await withoutLockTimeout(queryRunner, async () => {
      await show();
      await queryRunner.query('CREATE INDEX CONCURRENTLY lines_by_id ON shop.lines (id)');
    });
    await show();
    await queryRunner.query(statement);
  }
}

const [CREATE, INDEX] = ['CreateShop1763683200000', 'IndexLines1763683200001'];

let database: TestDatabase;
let dataSource: Database;
let holder: Client;

const open = () =>
  new Database({
    url: database.url,
    applicationName: 'spec',
    poolSize: 2,
    // The later migration is registered first.
    persistence: [IndexLines1763683200001, CreateShop1763683200000].map((migration) => ({
      schema: 'shop',
      entities: [],
      migrations: [migration],
    })),
  });
const status = async () => (await migrationStatus(dataSource)).map(({ name, applied }) => [name, applied]);

beforeAll(async () => {
  // TypeORM logs each failure.
  jest.spyOn(console, 'log').mockImplementation(() => undefined);
  database = await createTestDatabase();
  const name = new URL(database.url).pathname.slice(1);
  for (const timeout of ['statement_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout'])
    await query(process.env['TEST_POSTGRES_URL'] ?? '', `ALTER DATABASE ${name} SET ${timeout} = 300`);
  dataSource = await open().initialize();
  holder = new Client({ connectionString: database.url });
  await holder.connect();
});
beforeEach(async () => {
  statement = 'SELECT pg_sleep(0.4)';
  settings.length = 0;
  await dataSource.query('DROP SCHEMA IF EXISTS shop CASCADE; DROP TABLE IF EXISTS public.schema_migrations');
});
afterAll(async () => {
  jest.restoreAllMocks();
  await holder.end();
  await dataSource.destroy();
  await database.drop();
});

it('on an empty database, all migrations are pending, in the order of their timestamps', async () => {
  expect(await status()).toEqual([
    [CREATE, false],
    [INDEX, false],
  ]);
  expect(await pendingMigrations(dataSource)).toEqual([CREATE, INDEX]);
});

it('each is applied once, however short the timeouts of the database are', async () => {
  expect(await migrateUp(dataSource)).toEqual([CREATE, INDEX]);
  expect(await migrateUp(dataSource)).toEqual([]);
  expect(await pendingMigrations(dataSource)).toEqual([]);
  expect(settings).toEqual(['5s', '0', '5s'].map((lock_timeout) => ({ lock_timeout })));
});

it('a failed one is reported with its statement and its error, and those before it stay applied', async () => {
  statement = 'SELECT nothing FROM shop.lines';
  const error = new MigrationError('column "nothing" does not exist\nin the statement SELECT nothing FROM shop.lines');
  await expect(migrateUp(dataSource)).rejects.toEqual(error);
  expect(await status()).toEqual([
    [CREATE, true],
    [INDEX, false],
  ]);
});

it.each(['SELECT 1', 'SELECT 1 / 0'])('after %s, the connections of the pool have the timeouts that they had before', async (last) => {
  statement = last;
  await migrateUp(dataSource).catch(() => undefined);
  const timeouts = `SELECT array_agg(setting ORDER BY name) AS settings FROM pg_settings WHERE name IN ('lock_timeout', 'statement_timeout')`;
  const asBefore = [{ settings: ['0', '300'] }];
  expect(await Promise.all([1, 2].map(() => dataSource.query(timeouts)))).toEqual([asBefore, asBefore]);
});

it.each(['42P01', '3F000', '42501', '55000', '23505'])('an error %s of a statement is not one that a repetition cures', async (code) => {
  statement = `DO $$ BEGIN RAISE 'no' USING ERRCODE = '${code}'; END $$`;
  await expect(migrateUp(dataSource)).rejects.toBeInstanceOf(MigrationError);
});

it.each(['55P03', '40P01', '57P01'])('an error %s of a statement is one that a repetition may cure', async (code) => {
  statement = `DO $$ BEGIN RAISE 'no' USING ERRCODE = '${code}'; END $$`;
  await expect(migrateUp(dataSource)).rejects.toMatchObject({ code });
});

it('none is reverted', async () => {
  await expect(new CreateShop1763683200000().down()).rejects.toThrow('migrations go forward only');
});

describe('the migration lock', () => {
  it('is awaited for a limited time, before anything is created', async () => {
    await holder.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await expect(migrateUp(dataSource, { maxWaitMs: 300 })).rejects.toEqual(
      new MigrationError('another process has been migrating the database for 0.3 s'),
    );
    expect(await query(database.url, `SELECT to_regclass('public.schema_migrations') AS created`)).toEqual([{ created: null }]);
    const migrated = migrateUp(dataSource);
    await holder.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    expect(await migrated).toHaveLength(2);
  });
});

describe('a database', () => {
  it('opens after another process has migrated the database', async () => {
    const connecting = open();
    const onWaiting = jest.fn();
    const opened = connecting.open({ onWaiting });
    await waitFor(() => expect(onWaiting).toHaveBeenCalled());
    expect(connecting.hasOpened).toBe(false);
    await migrateUp(dataSource);
    await opened;
    expect(connecting.hasOpened).toBe(true);
    await connecting.open();
    await connecting.close();
    expect(connecting.hasOpened).toBe(false);
  });
});
