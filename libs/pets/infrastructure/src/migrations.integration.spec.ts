import { migrateDown, migrateUp } from '@animal-store/database';
import { describeMigrations, useDatabase } from '@animal-store/test-kit';
import { describe, expect, it } from '@jest/globals';
import { petsPersistence } from './pets-persistence.js';

describeMigrations(petsPersistence);

describe('the tables of the schema pets', () => {
  const database = useDatabase(petsPersistence);

  it.each([
    [`('', 1, 'sold')`, 'pets_name_check'],
    [`(repeat('x', 256), 1, 'sold')`, 'pets_name_check'],
    [`(U&' \\3000\\0085\\2028', 1, 'sold')`, 'pets_name_check'],
    [`('Rex', 1, 'lost')`, 'pets_status_check'],
    [`(NULL, 1, 'sold')`, 'null value in column "name"'],
    [`('Rex', NULL, 'sold')`, 'null value in column "category_id"'],
    [`('Rex', 1, NULL)`, 'null value in column "status"'],
  ])('refuse %s', async (row, reason) => {
    await expect(database.dataSource.query(`INSERT INTO pets.pets (name, category_id, status) VALUES ${row}`)).rejects.toThrow(reason);
  });

  it('get a new index in place of one whose building was cut off', async () => {
    const { dataSource } = database;
    while ((await migrateDown(dataSource)) !== 'IndexPetsByStatus1763683260000');
    await dataSource.query('CREATE INDEX pets_status_id_idx ON pets.pets (status)');
    await dataSource.query(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'pets.pets_status_id_idx'::regclass`);
    await migrateUp(dataSource);
    const indexes = await dataSource.query<{ name: string; valid: boolean }[]>(
      `SELECT relname AS name, indisvalid AS valid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indrelid = 'pets.pets'::regclass ORDER BY 1`,
    );
    expect(indexes).toEqual([
      { name: 'pets_pkey', valid: true },
      { name: 'pets_status_id_idx', valid: true },
    ]);
  });
});
