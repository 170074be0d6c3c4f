import { setTimeout as sleep } from 'node:timers/promises';
import { Database, migrateUp, type Statement, type StatementInterceptor } from '@animal-store/database';
import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { PetStatus } from '@animal-store/pets-domain';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { petsPersistence } from './pets-persistence.js';
import { findViolation, History } from './testing/history.js';
import { aNewPet } from './testing/pet-builder.js';
import { TypeOrmPetRepository } from './typeorm-pet-repository.js';

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

let database: TestDatabase;
let dataSources: Database[];

beforeAll(async () => {
  database = await createTestDatabase();
  const options = { url: database.url, applicationName: 'spec', poolSize: 5, persistence: [petsPersistence], interceptor };
  dataSources = await Promise.all([1, 2].map(() => new Database(options).initialize()));
  await migrateUp(dataSources[0] as Database);
});

afterAll(async () => {
  for (const dataSource of dataSources) await dataSource.destroy();
  await database.drop();
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
    { numRuns: 15 },
  );
});
