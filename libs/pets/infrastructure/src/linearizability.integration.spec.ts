import { setTimeout as sleep } from 'node:timers/promises';
import { createDataSource, migrateUp } from '@animal-store/database';
import { createTestDatabase } from '@animal-store/local-postgres/testing';
import type { PetId } from '@animal-store/pets-domain';
import { aNewPet, petsOf } from '@animal-store/pets-testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { GroupedPetRepository } from './grouped-pet-repository.js';
import { petsPersistence } from './pets-persistence.js';
import { PostgresPetCatalogue } from './postgres-pet-catalogue.js';
import { PostgresPetRepository } from './postgres-pet-repository.js';
import { SharedPetCatalogue } from './shared-pet-catalogue.js';
import { History, violation } from './testing/history.js';

/** All pets of a run fit on one page. */
const PAGE = 100;
const STEP = fc.record({
  what: fc.constantFrom('create', 'create once', 'find', 'list', 'list sold'),
  /** What is looked for, as an offset from the newest pet that anybody knows of. */
  back: fc.nat(3),
  pauseMs: fc.constantFrom(0, 0, 0, 1, 3),
});

/** Answers take their time on the way, so that much happens while a query is under way. */
class DistantPetCatalogue extends PostgresPetCatalogue {
  override async findAll(...query: Parameters<PostgresPetCatalogue['findAll']>): ReturnType<PostgresPetCatalogue['findAll']> {
    const found = await super.findAll(...query);
    await sleep(3);
    return found;
  }

  override async listAll(...query: Parameters<PostgresPetCatalogue['listAll']>): ReturnType<PostgresPetCatalogue['listAll']> {
    const pages = await super.listAll(...query);
    await sleep(3);
    return pages;
  }
}

describe('concurrent creations and reads, from two processes', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let dataSources: DataSource[];

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSources = [1, 2].map(() =>
      createDataSource({ url: database.url, applicationName: 'spec', poolSize: 5, persistence: [petsPersistence] }),
    );
    for (const dataSource of dataSources) await dataSource.initialize();
    await migrateUp(dataSources[0] as DataSource);
  });

  afterAll(async () => {
    for (const dataSource of dataSources) await dataSource.destroy();
    await database.drop();
  });

  it('are linearizable', async () => {
    const callers = fc.array(fc.array(STEP, { minLength: 4, maxLength: 7 }), { minLength: 6, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(callers, async (scripts) => {
        await dataSources[0]?.query('TRUNCATE pets.pets, pets.idempotency_keys');
        const processes = dataSources.map((dataSource) => ({
          repository: new GroupedPetRepository(new PostgresPetRepository(dataSource)),
          catalogue: new SharedPetCatalogue(new DistantPetCatalogue(dataSource)),
        }));
        const history = new History();
        let newest = 0n;
        const created = ({ id }: { id: bigint }) => {
          if (id > newest) newest = id;
          return { created: id };
        };
        await Promise.all(
          scripts.map(async (script, caller) => {
            const { repository, catalogue } = processes[caller % 2] as (typeof processes)[number];
            for (const [step, { what, back, pauseMs }] of script.entries()) {
              const pet = aNewPet({ status: 'sold' });
              const sought = (newest - BigInt(back)) as PetId;
              if (what === 'create') await history.record(() => repository.add(pet), created);
              if (what === 'create once') {
                const key = { clientId: BigInt(caller), key: String(step) };
                await history.record(
                  () => repository.addOnce(pet, key),
                  (result) => created(result.pet),
                );
              }
              if (what === 'find') {
                await history.record(
                  () => catalogue.find(sought),
                  (found) => ({ askedFor: sought, seen: new Set(found ? [found.id] : []) }),
                );
              }
              if (what.startsWith('list')) {
                await history.record(
                  () => catalogue.list({ limit: PAGE, status: what === 'list' ? undefined : 'sold' }),
                  ({ pets }) => ({ seen: new Set(petsOf(pets).map(({ id }) => id)) }),
                );
              }
              await sleep(pauseMs);
            }
          }),
        );
        expect(violation(history.operations)).toBeUndefined();
      }),
      { numRuns: 25 },
    );
  });
});
