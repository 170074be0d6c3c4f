import { useDatabase } from '@animal-store/test-kit';
import { describe, expect, it } from '@jest/globals';
import { INT64_MIN } from '@animal-store/kernel';
import { aNewPet } from '@animal-store/pets-testing';
import { petsPersistence } from './pets-persistence.js';
import { TypeOrmPetRepository } from './typeorm-pet-repository.js';

describe('the tables of the schema pets', () => {
  const database = useDatabase(petsPersistence);
  const columns = 'client_id, key, pet_id, name, category_id, status';

  it('share keys between processes of the previous and this release', async () => {
    const { dataSource } = database;
    const repository = new TypeOrmPetRepository(dataSource);
    await dataSource.query(`INSERT INTO pets.idempotency_keys (${columns}) VALUES (2, 'old', 8, 'Max', 3, 'pending')`);
    expect(
      await repository.addOnce(aNewPet({ name: 'Max', categoryId: 3n, status: 'pending' }), { clientId: 2n, key: 'old' }),
    ).toMatchObject({
      pet: { id: 8n },
      replayed: true,
    });
    const { pet } = await repository.addOnce(aNewPet({ name: 'Mia', categoryId: INT64_MIN }), { clientId: 2n, key: 'new' });
    expect(await dataSource.query(`SELECT ${columns} FROM pets.idempotency_keys WHERE key = 'new'`)).toEqual([
      { client_id: 2n, key: 'new', pet_id: pet.id, name: 'Mia', category_id: INT64_MIN, status: 'available' },
    ]);
  });

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
