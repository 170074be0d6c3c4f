import { AnimalStore, APIError, type ClientOptions, type Pet, type PetListParams } from '@animal-store/client';
import { query } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { OwnService } from '../support/use-api.js';
import { type Fault, FaultProxy } from './fault-proxy.js';

/** Above 2^53: a JavaScript number would round it to an even number. */
const FIRST_ID = 9007199254740993n;

/** Tests the client on a service, whose pets it removes. */
export function describeClient(own: OwnService): void {
  describe('@animal-store/client', () => {
    let proxy: FaultProxy;

    beforeAll(async () => {
      proxy = await FaultProxy.start(own.api.target.baseUrl);
    });
    afterAll(() => proxy.stop());
    beforeEach(async () => {
      proxy.inject();
      await query(
        own.databaseUrl,
        'TRUNCATE pets.pets, pets.idempotency_keys CASCADE',
        `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, ${FIRST_ID}, false) FROM pg_sequences WHERE schemaname = 'pets'`,
      );
    });

    const petsOf = (options: Partial<ClientOptions> = {}) =>
      new AnimalStore({ apiKey: own.api.target.key, baseURL: proxy.url, minRetryDelay: 1, ...options }).pets;
    const stored = () => query<{ id: string; name: string }>(own.databaseUrl, 'SELECT id::text, name FROM pets.pets ORDER BY id');

    async function addPets(...names: readonly string[]): Promise<void> {
      for (const name of names) await petsOf().create({ name, categoryId: 7n, status: 'sold' });
      proxy.inject();
    }

    async function namesOf(params: PetListParams): Promise<string[]> {
      const names: string[] = [];
      for await (const { name } of petsOf().list(params)) names.push(name);
      return names;
    }

    it('identifiers are exact when sent and received', async () => {
      const pet = { id: FIRST_ID, name: 'Rex', categoryId: 9223372036854775807n, status: 'sold' } as const;
      const { data, response } = await petsOf().create(pet).withResponse();
      expect(data).toEqual(pet);
      expect([response.status, response.headers.get('Location')]).toEqual([201, `/v1/pets/${FIRST_ID}`]);
      expect((await petsOf().list()).data).toEqual([pet]);
      expect(await (petsOf() as { retrieve(id: bigint): Promise<Pet> }).retrieve(FIRST_ID)).toEqual(pet);
    });

    it('lists are iterated over all pages, at the base URL of the client', async () => {
      await addPets('A', 'B', 'C', 'D', 'E');
      expect(await namesOf({ limit: 2, status: 'sold' })).toEqual(['A', 'B', 'C', 'D', 'E']);
      expect(proxy.keys).toHaveLength(3);
      expect(await namesOf({ status: 'pending' })).toEqual([]);
    });

    it('errors of the service have a code', async () => {
      await expect(petsOf({ apiKey: 'ast_wrong' }).list()).rejects.toMatchObject({
        name: 'APIError',
        status: 401,
        code: 'invalid_api_key',
        message: expect.stringMatching(/^401 invalid_api_key: \S/),
        retryable: false,
        requestId: expect.any(String),
      });
    });

    it('an idempotency key replays a creation', async () => {
      const create = () => petsOf().create({ name: 'Rex', categoryId: 7n }, { idempotencyKey: 'a-"quoted"-key\\' });
      const first = await create();
      const { data, response } = await create().withResponse();
      expect([data, response.headers.get('Idempotent-Replayed')]).toEqual([first, 'true']);
      expect(await stored()).toHaveLength(1);
    });

    it('with random faults, each creation returns its pet or a typed error, and none adds a duplicate', async () => {
      const faults: Fault[] = ['none', 'reset', 'lose', 'truncate', { status: 200, body: '[{"id":' }, { status: 503 }, { status: 429 }];
      proxy.inject(...fc.sample(fc.constantFrom(...faults), { numRuns: 60, seed: 1 }));
      const names = Array.from({ length: 30 }, (_, index) => `pet ${index}`);
      const created: { id: string; name: string }[] = [];
      for (const name of names) {
        try {
          created.push({ name, id: String((await petsOf().create({ name, categoryId: 7n })).id) });
        } catch (error) {
          expect(error).toBeInstanceOf(APIError);
          expect(error).toMatchObject({ retryable: true });
        }
      }
      const rows = await stored();
      expect(rows).toEqual(expect.arrayContaining(created));
      expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    });

    it.each([302, 307])('the client follows no %i, neither to the same nor to another origin', async (status) => {
      const other = await FaultProxy.start(own.api.target.baseUrl);
      for (const origin of ['', other.url]) {
        const pets = petsOf({ maxRetries: 0 });
        for (const call of [() => pets.create({ name: 'Rex', categoryId: 7n }), () => pets.list()]) {
          proxy.inject({ status, headers: { Location: `${origin}/v1/pets` } });
          await expect(call()).rejects.toMatchObject({ name: 'APIConnectionError', message: expect.stringContaining('redirect') });
          expect(proxy.keys).toHaveLength(1);
        }
      }
      expect(other.keys).toEqual([]);
      expect(await stored()).toEqual([]);
      await other.stop();
    });
  });
}
