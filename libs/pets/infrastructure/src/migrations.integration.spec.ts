import { migrateDown, migrateUp } from '@animal-store/database';
import { useDatabase } from '@animal-store/test-kit';
import { describe, expect, it } from '@jest/globals';
import { INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { aNewPet } from '@animal-store/pets-testing';
import { petsPersistence } from './pets-persistence.js';
import { TypeOrmPetRepository } from './typeorm-pet-repository.js';

describe('the tables of the schema pets', () => {
  const database = useDatabase(petsPersistence);
  const key = { clientId: 1n, key: 'upgrade' };
  const columns = 'client_id, key, pet_id, name, category_id, status';

  it('keep keys that were recorded before the request was stored as JSON', async () => {
    const { dataSource } = database;
    while ((await migrateDown(dataSource)) !== 'RecordRequestsAsJson1763683380000');
    await dataSource.query(`INSERT INTO pets.idempotency_keys (${columns}) VALUES (1, 'upgrade', 7, 'Rex', $1, 'sold')`, [INT64_MAX]);
    await migrateUp(dataSource);
    const pet = aNewPet({ name: 'Rex', categoryId: INT64_MAX, status: 'sold' });
    const repository = new TypeOrmPetRepository(dataSource);
    expect(await repository.addOnce(pet, key)).toEqual({ pet: { id: 7n, ...pet }, replayed: true });
    await expect(repository.addOnce(aNewPet(), key)).rejects.toThrow(expect.objectContaining({ code: 'idempotency_key_reused' }));
  });

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

  it('replace an index whose creation was interrupted', async () => {
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
