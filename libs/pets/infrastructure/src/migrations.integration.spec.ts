import { createDataSource, migrateDown, migrateUp, migrationStatus } from '@animal-store/database';
import { createTestDatabase } from '@animal-store/local-postgres/testing';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { petsPersistence } from './pets-persistence.js';

describe('the migrations of the schema pets', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = createDataSource({ url: database.url, applicationName: 'spec', poolSize: 4, persistence: [petsPersistence] });
    await dataSource.initialize();
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const downTo = async (name: string) => {
    while ((await migrateDown(dataSource)) !== name);
  };

  const indexes = async () =>
    await dataSource.query<{ name: string; valid: boolean }[]>(
      `SELECT relname AS name, indisvalid AS valid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indrelid = 'pets.pets'::regclass ORDER BY 1`,
    );

  it('go up, down to nothing, and up again', async () => {
    const names = ['CreatePets1763683200000', 'IndexPetsByStatus1763683260000', 'CreateIdempotencyKeys1763683320000'];
    expect(await migrateUp(dataSource)).toEqual(names);
    expect(await migrateUp(dataSource)).toEqual([]);
    expect(await migrationStatus(dataSource)).toEqual(names.map((name) => ({ name, applied: true })));
    expect(await migrateDown(dataSource)).toBe(names[2]);
    expect(await migrateDown(dataSource)).toBe(names[1]);
    expect(await indexes()).toEqual([{ name: 'pets_pkey', valid: true }]);
    expect(await migrateDown(dataSource)).toBe(names[0]);
    expect(await dataSource.query(`SELECT 1 FROM information_schema.schemata WHERE schema_name = 'pets'`)).toEqual([]);
    expect(await migrateDown(dataSource)).toBeUndefined();
    expect(await migrateUp(dataSource)).toEqual(names);
    expect(await indexes()).toEqual([
      { name: 'pets_pkey', valid: true },
      { name: 'pets_status_id_idx', valid: true },
    ]);
  });

  it('repair an index whose building was cut off', async () => {
    await downTo('IndexPetsByStatus1763683260000');
    await dataSource.query('CREATE INDEX pets_status_id_idx ON pets.pets (status)');
    await dataSource.query(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'pets.pets_status_id_idx'::regclass`);
    await migrateUp(dataSource);
    expect(await indexes()).toContainEqual({ name: 'pets_status_id_idx', valid: true });
  });

  it('are applied once by several processes that start at once', async () => {
    await downTo('CreatePets1763683200000');
    const others = await Promise.all(
      Array.from({ length: 4 }, () =>
        createDataSource({ url: database.url, applicationName: 'spec', poolSize: 1, persistence: [petsPersistence] }).initialize(),
      ),
    );
    const applied = await Promise.all(others.map((other) => migrateUp(other)));
    expect(applied.flat()).toHaveLength(3);
    await Promise.all(others.map((other) => other.destroy()));
  });

  it.each([
    [`('', 1, 'sold')`, 'pets_name_check'],
    [`(repeat('x', 256), 1, 'sold')`, 'pets_name_check'],
    [`(U&' \\3000\\0085\\2028', 1, 'sold')`, 'pets_name_check'],
    [`('Rex', 1, 'lost')`, 'pets_status_check'],
    [`(NULL, 1, 'sold')`, 'null value in column "name"'],
    [`('Rex', NULL, 'sold')`, 'null value in column "category_id"'],
    [`('Rex', 1, NULL)`, 'null value in column "status"'],
  ])('the table refuses %s', async (row, reason) => {
    await expect(dataSource.query(`INSERT INTO pets.pets (name, category_id, status) VALUES ${row}`)).rejects.toThrow(reason);
  });
});
