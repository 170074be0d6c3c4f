import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Database } from '../database.js';
import { isMigrated, migrateDown, migrateUp, migrationState, migrationStatus, migrationToUndo } from './migrations.js';

class CreateShop1763683200000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA shop');
    await queryRunner.query('CREATE TABLE shop.lines (id bigint)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE shop.lines');
    await queryRunner.query('DROP SCHEMA shop');
  }
}

/** PostgreSQL rejects both statements inside a transaction. */
class IndexLines1763683200001 implements MigrationInterface {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE INDEX CONCURRENTLY lines_by_id ON shop.lines (id)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX CONCURRENTLY shop.lines_by_id');
  }
}

const [CREATE, INDEX] = ['CreateShop1763683200000', 'IndexLines1763683200001'];

let database: TestDatabase;
let dataSource: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  // The later migration is registered first.
  const persistence = [IndexLines1763683200001, CreateShop1763683200000].map((migration) => ({
    schema: 'shop',
    entities: [],
    migrations: [migration],
  }));
  dataSource = new Database({ url: database.url, applicationName: 'spec', poolSize: 2, persistence });
  await dataSource.initialize();
});

afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const status = async () => (await migrationStatus(dataSource)).map(({ name, applied }) => [name, applied]);

it('on an empty database, all migrations are pending, in the order of their timestamps', async () => {
  expect(await status()).toEqual([
    [CREATE, false],
    [INDEX, false],
  ]);
  expect(await migrationState(dataSource)).toEqual({ pending: 2, latest: undefined });
  expect(await migrationToUndo(dataSource)).toBeUndefined();
  expect(await migrateDown(dataSource)).toBeUndefined();
});

it('migrateUp applies them once', async () => {
  expect(await migrateUp(dataSource)).toEqual([CREATE, INDEX]);
  expect(await migrateUp(dataSource)).toEqual([]);
  expect(await isMigrated(dataSource)).toBe(true);
  expect(await status()).toEqual([
    [CREATE, true],
    [INDEX, true],
  ]);
});

it('migrateDown undoes the latest one, without a transaction if the migration has none', async () => {
  expect(await migrationToUndo(dataSource)).toEqual({ name: INDEX, statements: ['DROP INDEX CONCURRENTLY shop.lines_by_id'] });
  await expect(migrateDown(dataSource, CREATE)).rejects.toThrow(`the latest migration is no longer ${CREATE}`);
  expect(await migrateDown(dataSource, INDEX)).toBe(INDEX);
  expect(await migrationToUndo(dataSource)).toEqual({ name: CREATE, statements: ['DROP TABLE shop.lines', 'DROP SCHEMA shop'] });
  expect(await migrationState(dataSource)).toEqual({ pending: 1, latest: CREATE });
});

it('migrateDown undoes a migration with a transaction in it: nothing is half undone', async () => {
  await dataSource.pool.query('CREATE TABLE shop.other (id bigint)');
  await expect(migrateDown(dataSource)).rejects.toThrow('cannot drop schema shop');
  expect((await dataSource.pool.query(`SELECT to_regclass('shop.lines')::text AS name`)).rows).toEqual([{ name: 'shop.lines' }]);
  expect(await migrationState(dataSource)).toEqual({ pending: 1, latest: CREATE });
});

it('a table of migrations that cannot be read is an error, not an empty one', async () => {
  await dataSource.pool.query('ALTER TABLE public.schema_migrations RENAME COLUMN name TO title');
  await expect(migrationState(dataSource)).rejects.toThrow('column "name" does not exist');
});
