import { setTimeout as sleep } from 'node:timers/promises';
import { Database, migrateUp, type Statement, type StatementInterceptor } from '@animal-store/database';
import { waitFor } from '@animal-store/local-postgres/testing';
import { PetStatus } from '@animal-store/pets-domain';
import { aNewPet } from './pet-builder.js';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { petsPersistence } from '../pets-persistence.js';
import { History, type Operation } from './history.js';
import { TypeOrmPetReader } from '../typeorm-pet-reader.js';
import { TypeOrmPetRepository } from '../typeorm-pet-repository.js';

/** Includes the start of two servers and a restart of the primary. */
const START_TIMEOUT_MS = 120_000;
const REPLICA_TIMEOUT_MS = 20_000;

/** All pets of a run fit on one page. */
const PAGE = 100;
const STEP = fc.record({
  what: fc.constantFrom('create', 'create once', 'find', 'list', 'list sold'),
  /** The pet to look for, as an offset from the newest known one. */
  back: fc.nat(3),
  pauseMs: fc.constantFrom(0, 0, 0, 1, 3),
});

/** Delays the results of reads on the primary, so that more operations overlap. */
const interceptor: StatementInterceptor = <Result>({ name = '', isReplicable }: Statement, run: () => Result): Result => {
  const result = run();
  if (isReplicable || !/^(?:find|list) /.test(name)) return result;
  return Promise.resolve(result).finally(() => sleep(3)) as Result;
};

export interface Servers {
  readonly url: string;
  readonly replicaUrls: readonly string[];
  readonly remove: () => Promise<void>;
}

/** Tests histories of concurrent creations and reads from two processes. `find` returns a violation. */
export function describeHistories(start: () => Promise<Servers>, find: (operations: readonly Operation[]) => string | undefined): void {
  let servers: Servers;
  let dataSources: Database[];
  const servedBy = { primary: 0, replica: 0 };

  beforeAll(async () => {
    servers = await start();
    const { url, replicaUrls } = servers;
    dataSources = [1, 2].map(
      () => new Database({ url, replicaUrls, applicationName: 'spec', poolSize: 5, persistence: [petsPersistence], interceptor }),
    );
    for (const dataSource of dataSources) await dataSource.initialize();
    await migrateUp(dataSources[0] as Database);
    for (const dataSource of dataSources) {
      const replicas = dataSource.replicas;
      if (!replicas) continue;
      replicas.observe({ read: (server) => servedBy[server]++, changed: () => undefined });
      replicas.start();
      await waitFor(() => expect([...replicas.problems.values()]).toEqual([undefined]), { timeoutMs: REPLICA_TIMEOUT_MS });
    }
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    for (const dataSource of dataSources) {
      await dataSource.replicas?.close();
      await dataSource.destroy();
    }
    await servers.remove();
  }, START_TIMEOUT_MS);

  it('have no violation', async () => {
    const callers = fc.array(fc.array(STEP, { minLength: 4, maxLength: 7 }), { minLength: 6, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(callers, async (scripts) => {
        await dataSources[0]?.query('TRUNCATE pets.pets, pets.idempotency_keys CASCADE');
        const processes = dataSources.map((dataSource) => ({
          repository: new TypeOrmPetRepository(dataSource),
          reader: new TypeOrmPetReader(dataSource),
        }));
        const history = new History();
        let newest = 0n;
        const created = ({ id }: { id: bigint }) => {
          if (id > newest) newest = id;
          return { created: id };
        };
        await Promise.all(
          scripts.map(async (script, caller) => {
            const { repository, reader } = processes[caller % 2] as (typeof processes)[number];
            for (const [step, { what, back, pauseMs }] of script.entries()) {
              const pet = aNewPet({ status: 'sold' });
              const requested = newest - BigInt(back);
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
                  () => reader.find(requested),
                  (found) => ({ requested, seen: new Set(found ? [found.id] : []) }),
                );
              }
              if (what.startsWith('list')) {
                await history.record(
                  () => reader.list({ status: what === 'list' ? undefined : PetStatus.Sold }, { limit: PAGE }),
                  ({ items }) => ({ seen: new Set(items.map(({ id }) => id)) }),
                );
              }
              await sleep(pauseMs);
            }
          }),
        );
        expect(find(history.operations)).toBeUndefined();
      }),
      { numRuns: 15 },
    );
    if (servers.replicaUrls.length === 0) return;
    // On a busy machine, the replica may lag too far behind to serve any list of the histories.
    await waitFor(
      async () => {
        await new TypeOrmPetReader(dataSources[0] as Database).list({}, { limit: PAGE });
        expect(servedBy.replica).toBeGreaterThan(0);
      },
      { timeoutMs: REPLICA_TIMEOUT_MS },
    );
  });
}
