import { Database } from '@animal-store/database';
import { IDEMPOTENCY_KEY_REUSED, INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { type NewPet, type Pet, PET_STATUSES } from '@animal-store/pets-domain';
import { describeMigrations, useDatabase } from '@animal-store/test-kit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { petsPersistence } from './pets-persistence.js';
import { aNewPet, anyNewPet, OTHER_PET_VALUES } from './testing/pet-builder.js';
import { TypeOrmPetRepository } from './typeorm-pet-repository.js';

const database = useDatabase(petsPersistence);
/** Distance between the identifiers that Citus assigns on two servers. */
const STEP = 2n ** 48n;

describeMigrations(petsPersistence);

describe.each([
  ['on one server', false],
  ['with the statements for Citus and identifiers in descending order, far apart', true],
])('the pets %s', (_name, citus) => {
  let source: Database;
  let repository: TypeOrmPetRepository;

  beforeAll(async () => {
    source = new Database({ url: database.url, applicationName: 'spec', poolSize: 10, citus, persistence: [petsPersistence] });
    await source.initialize();
    const range = `MINVALUE ${String(INT64_MIN)} MAXVALUE ${String(INT64_MAX)} START ${String(INT64_MAX - STEP)}`;
    if (citus) await source.query(`ALTER SEQUENCE pets.pets_id_seq INCREMENT ${String(-STEP)} ${range}`);
    repository = new TypeOrmPetRepository(source);
  });
  beforeEach(() => database.empty());
  afterAll(() => source.destroy());

  const add = async (pet: NewPet) => (await repository.add(pet)).result;
  const all = async () => (await repository.list({}, { limit: 100 })).items;

  it('are found and listed exactly as they were added', async () => {
    await fc.assert(
      fc.asyncProperty(anyNewPet, async (pet) => {
        const added = await add(pet);
        expect(added).toMatchObject({ ...pet });
        expect([await repository.find(added.id), await repository.exists(added.id)]).toEqual([{ ...added }, true]);
        expect(await repository.findByIds([added.id, -1n, added.id])).toEqual(new Map([[added.id, { ...added }]]));
        for (const filter of [{}, { status: added.status }])
          expect((await repository.list(filter, { limit: 1, after: { id: added.id - 1n } })).items).toEqual([{ ...added }]);
      }),
      { numRuns: 25 },
    );
  });

  it('are added once for a key, also by concurrent requests', async () => {
    const key = { clientId: 7n, key: 'order-1' };
    const pet = aNewPet({ name: 'Only', categoryId: 2n ** 53n + 1n, status: 'sold' });
    const results = await Promise.all(Array.from({ length: 30 }, () => repository.add(pet, key)));
    expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await repository.add(pet, key)).toEqual({ result: results[0]?.result, replayed: true });
    for (const other of OTHER_PET_VALUES)
      await expect(repository.add(aNewPet(other), key)).rejects.toThrow(expect.objectContaining(IDEMPOTENCY_KEY_REUSED));
    expect(await all()).toEqual([{ ...results[0]?.result }]);
  });

  it('are listed by identifier, in pages of a status, and at most one by its identifier', async () => {
    const added: Pet[] = [];
    for (let i = 0; i < 9; i++) added.push({ ...(await add(aNewPet({ name: `pet ${String(i)}`, status: PET_STATUSES[i % 3] }))) });
    const listed = await all();
    // Identifiers are not always in the order of insertion.
    expect(listed).toEqual(added.toSorted((one, other) => (one.id < other.id ? -1 : 1)));
    const ids = [INT64_MIN, -1n, ...listed.map(({ id }) => id), INT64_MAX];
    const queries = [undefined, ...PET_STATUSES].flatMap((status) =>
      [undefined, ...ids].flatMap((after) => [
        ...[1, 3, 100].map((limit) => ({ status, after, limit })),
        ...ids.map((id) => ({ id, status, after, limit: 1 })),
      ]),
    );
    const results = await Promise.all(
      queries.map(({ limit, after, ...filter }) =>
        repository.list(filter, { limit, after: after === undefined ? undefined : { id: after } }),
      ),
    );
    for (const [index, { status, limit, after, ...filter }] of queries.entries()) {
      const id = 'id' in filter ? filter.id : undefined;
      const expected = listed.filter(
        (pet) => (id ?? pet.id) === pet.id && (status ?? pet.status) === pet.status && (after === undefined || pet.id > after),
      );
      expect(results[index]?.items).toEqual(expected.slice(0, limit));
      expect(results[index]?.next?.id).toBe(expected.length > limit ? expected[limit - 1]?.id : undefined);
    }
  });
});

it.each([
  [`('', 1, 'sold')`, 'pets_name_check'],
  [`(repeat('x', 256), 1, 'sold')`, 'pets_name_check'],
  [`(U&' \\3000\\0085\\2028', 1, 'sold')`, 'pets_name_check'],
  [`('Rex', 1, 'lost')`, 'pets_status_check'],
  [`(NULL, 1, 'sold')`, 'null value in column "name"'],
  [`('Rex', NULL, 'sold')`, 'null value in column "category_id"'],
  [`('Rex', 1, NULL)`, 'null value in column "status"'],
])('the table rejects %s', async (row, reason) => {
  await expect(database.dataSource.query(`INSERT INTO pets.pets (name, category_id, status) VALUES ${row}`)).rejects.toThrow(reason);
});
