import { setTimeout as sleep } from 'node:timers/promises';
import { Database, type Statement, type StatementInterceptor } from '@animal-store/database';
import { IDEMPOTENCY_KEY_REUSED, INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { type NewPet, type Pet, PET_STATUSES, PetStatus } from '@animal-store/pets-domain';
import { describeMigrations, useDatabase } from '@animal-store/test-kit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { petsPersistence } from './pets-persistence.js';
import { findViolation, History } from './testing/history.js';
import { aNewPet, anyNewPet, OTHER_PET_VALUES } from './testing/pet-builder.js';
import { TypeOrmPetRepository } from './typeorm-pet-repository.js';

const database = useDatabase(petsPersistence);
/** Distance between the identifiers that Citus assigns on two servers. */
const STEP = 2n ** 48n;

const WHITE_SPACE = String.fromCodePoint(...Array.from({ length: 0x3001 }).keys()).replace(/\P{White_Space}/gu, '');

describeMigrations(petsPersistence);

describe('concurrent creations and reads', () => {
  /** All pets of a run fit on one page. */
  const PAGE = 100;
  const STEP = fc.record({
    what: fc.constantFrom('create', 'create once', 'find', 'list', 'list sold'),
    /** The pet to look for, as an offset from the newest known one. */
    back: fc.nat(3),
    pauseMs: fc.constantFrom(0, 0, 0, 1, 3),
  });

  /** Delays the results of reads, so that more operations overlap. */
  const interceptor: StatementInterceptor = async <Result>({ name = '' }: Statement, run: () => Promise<Result>) => {
    const result = await run();
    if (/^(?:find|list) /.test(name)) await sleep(3);
    return result;
  };

  let dataSources: Database[];

  beforeAll(async () => {
    const options = { url: database.url, applicationName: 'spec', poolSize: 5, persistence: [petsPersistence], interceptor };
    dataSources = await Promise.all([1, 2].map(() => new Database(options).initialize()));
  });

  afterAll(async () => {
    for (const dataSource of dataSources) await dataSource.destroy();
  });

  it('concurrent creations and reads, from two processes, are linearizable', async () => {
    const callers = fc.array(fc.array(STEP, { minLength: 4, maxLength: 7 }), { minLength: 6, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(callers, async (scripts) => {
        await dataSources[0]?.query('TRUNCATE pets.pets, pets.idempotency_keys CASCADE');
        const repositories = dataSources.map((dataSource) => new TypeOrmPetRepository(dataSource));
        const history = new History();
        let newest = 0n;
        const created = ({ id }: { id: bigint }) => {
          if (id > newest) newest = id;
          return { created: id };
        };
        await Promise.all(
          scripts.map(async (script, caller) => {
            const repository = repositories[caller % 2] as TypeOrmPetRepository;
            for (const [step, { what, back, pauseMs }] of script.entries()) {
              const pet = aNewPet({ status: 'sold' });
              const requested = newest - BigInt(back);
              if (what === 'create') await history.record(async () => (await repository.add(pet)).result, created);
              if (what === 'create once') {
                const key = { clientId: BigInt(caller), key: String(step) };
                await history.record(
                  () => repository.add(pet, key),
                  ({ result }) => created(result),
                );
              }
              if (what === 'find') {
                await history.record(
                  () => repository.find(requested),
                  (found) => ({ requested, seen: new Set(found ? [found.id] : []) }),
                );
              }
              if (what.startsWith('list')) {
                await history.record(
                  () => repository.list({ status: what === 'list' ? undefined : PetStatus.Sold }, { limit: PAGE }),
                  ({ items }) => ({ seen: new Set(items.map(({ id }) => id)) }),
                );
              }
              await sleep(pauseMs);
            }
          }),
        );
        expect(findViolation(history.operations)).toBeUndefined();
      }),
      { numRuns: 8 },
    );
  });
});

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
  [`('${WHITE_SPACE}', 1, 'sold')`, 'pets_name_check'],
  [`('Rex', 1, 'lost')`, 'pets_status_check'],
  [`(NULL, 1, 'sold')`, 'null value in column "name"'],
  [`('Rex', NULL, 'sold')`, 'null value in column "category_id"'],
  [`('Rex', 1, NULL)`, 'null value in column "status"'],
])('the table rejects %j', async (row, reason) => {
  await expect(database.dataSource.query(`INSERT INTO pets.pets (name, category_id, status) VALUES ${row}`)).rejects.toThrow(reason);
});

const creation = (created: bigint, calledAt: number, returnedAt: number) => ({ created, calledAt, returnedAt });
const list = (pets: bigint[], calledAt: number, returnedAt: number) => ({ seen: new Set(pets), calledAt, returnedAt });
const find = (requested: bigint, isFound: boolean, calledAt: number, returnedAt: number) => ({
  requested,
  seen: new Set(isFound ? [requested] : []),
  calledAt,
  returnedAt,
});

const lostPet = [creation(1n, 1, 10), find(1n, true, 2, 3), list([], 4, 5)];
const longFork = [creation(1n, 1, 9), creation(2n, 2, 9), list([1n], 3, 8), list([2n], 4, 8)];

describe('the check of histories', () => {
  it.each([
    ['a creation that a list forgets', [creation(1n, 1, 2), list([], 3, 4)], /created, and not seen/],
    ['a creation that is not found', [creation(1n, 1, 2), find(1n, false, 3, 4)], /created, and not seen/],
    ['a pet that comes and goes', lostPet, /seen, and not seen/],
    ['a pet from the future', [list([1n], 1, 2), creation(1n, 3, 4)], /before it was created/],
    ['two orders of two creations', longFork, /different creations first/],
  ])('rejects %s', (_, operations, reason) => expect(findViolation(operations)).toMatch(reason));
});
