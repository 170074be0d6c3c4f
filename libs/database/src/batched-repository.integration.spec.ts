import { createDataSource, migrateUp } from '@animal-store/database';
import { createTestDatabase } from '@animal-store/local-postgres/testing';
import { IDEMPOTENCY_KEY_REUSED, type NewPet } from '@animal-store/pets-domain';
import { aNewPet } from '@animal-store/pets-testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { GroupedPetRepository } from './grouped-pet-repository.js';
import { petsPersistence } from './pets-persistence.js';
import { PostgresPetRepository } from './postgres-pet-repository.js';

describe('GroupedPetRepository', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let dataSource: DataSource;
  let repositories: [GroupedPetRepository, GroupedPetRepository];

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = createDataSource({ url: database.url, applicationName: 'spec', poolSize: 6, persistence: [petsPersistence] });
    await dataSource.initialize();
    await migrateUp(dataSource);
    const repository = () => new GroupedPetRepository(new PostgresPetRepository(dataSource));
    repositories = [repository(), repository()];
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  async function count(table: string, name: string): Promise<bigint> {
    const [row] = await dataSource.query<[{ count: bigint }]>(`SELECT count(*) FROM pets.${table} WHERE name = $1`, [name]);
    return row.count;
  }

  /** What the domain would never let through. */
  const broken = { name: ' ', categoryId: 1n, status: 'sold' } as NewPet;

  it('lets one bad row fail alone', async () => {
    const pets = [aNewPet({ name: 'good' }), broken, aNewPet({ name: 'good' })];
    const plain = await Promise.allSettled(pets.map((pet) => repositories[0].add(pet)));
    const keyed = await Promise.allSettled(pets.map((pet, i) => repositories[0].addOnce(pet, { clientId: 1n, key: `bad ${String(i)}` })));
    for (const ends of [plain, keyed]) {
      expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(ends[1]).toMatchObject({ reason: { constraint: 'pets_name_check' } });
    }
    expect(await count('pets', 'good')).toBe(4n);
    expect([await count('pets', ' '), await count('idempotency_keys', ' ')]).toEqual([0n, 0n]);
  });

  it('gives a repetition that comes at once the end of the first, and a different pet an error', async () => {
    const key = { clientId: 1n, key: 'at once' };
    const [first, ...others] = await Promise.allSettled([
      repositories[0].addOnce(aNewPet({ name: 'first' }), key),
      repositories[0].addOnce(aNewPet({ name: 'first' }), key),
      repositories[0].addOnce(aNewPet({ name: 'other' }), key),
      repositories[1].addOnce(aNewPet({ name: 'first' }), key),
    ]);
    const all = [first, others[0], others[2]].map((end) => (end.status === 'fulfilled' ? end.value : undefined));
    expect(new Set(all.map((created) => created?.pet.id)).size).toBe(1);
    expect(all.filter((created) => created?.replayed === false)).toHaveLength(1);
    expect(others[1]).toMatchObject({ status: 'rejected', reason: IDEMPOTENCY_KEY_REUSED });
  });

  it('does not refuse a repetition for a different pet that came before it', async () => {
    const key = { clientId: 1n, key: 'refused before' };
    const { pet } = await repositories[0].addOnce(aNewPet({ name: 'kept' }), key);
    const [other, same] = await Promise.allSettled([
      repositories[0].addOnce(aNewPet({ name: 'other' }), key),
      repositories[0].addOnce(aNewPet({ name: 'kept' }), key),
    ]);
    expect(other).toMatchObject({ status: 'rejected', reason: IDEMPOTENCY_KEY_REUSED });
    expect(same).toEqual({ status: 'fulfilled', value: { pet, replayed: true } });
  });

  it('never lets a creation with a key hold up one without', async () => {
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query(
      `INSERT INTO pets.idempotency_keys (client_id, key, pet_id, name, category_id, status) VALUES (1, 'held', 0, 'held', 1, 'sold')`,
    );
    const held = repositories[0].addOnce(aNewPet({ name: 'waits' }), { clientId: 1n, key: 'held' });
    expect(await repositories[0].add(aNewPet({ name: 'goes on' }))).toMatchObject({ name: 'goes on' });
    expect(await count('pets', 'waits')).toBe(0n);
    await runner.rollbackTransaction();
    await runner.release();
    expect(await held).toMatchObject({ replayed: false });
  });

  it('does not deadlock with another process over the same keys', async () => {
    for (let round = 0; round < 20; round++) {
      const keys = Array.from({ length: 20 }, (_, i) => ({ clientId: 2n, key: `${String(round)} ${String(i)}` }));
      const pet = aNewPet({ name: `round ${String(round)}` });
      const results = await Promise.all([
        ...keys.map((key) => repositories[0].addOnce(pet, key)),
        ...keys.toReversed().map((key) => repositories[1].addOnce(pet, key)),
      ]);
      expect(results.filter(({ replayed }) => !replayed)).toHaveLength(20);
      expect(await count('pets', pet.name)).toBe(20n);
    }
  });
});
