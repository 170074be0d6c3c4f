import { useDatabase } from '@animal-store/test-kit';
import { describe, expect, it } from '@jest/globals';
import { petsPersistence } from './pets-persistence.js';

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
  ])('reject %s', async (row, reason) => {
    await expect(database.dataSource.query(`INSERT INTO pets.pets (name, category_id, status) VALUES ${row}`)).rejects.toThrow(reason);
  });
});
