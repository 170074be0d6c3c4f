import { IDEMPOTENCY_KEY_REUSED, INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import type { PetCatalogue } from '@animal-store/pets-contract';
import { PET_STATUSES, type PetReader, type PetRepository, PetStatus, type PetView } from '@animal-store/pets-domain';
import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { aNewPet, anyNewPet, OTHER_PET_VALUES } from './pet-builder.js';

export interface PetsAdapter {
  readonly repository: PetRepository;
  readonly reader: PetReader & PetCatalogue;
}

/** Tests for every adapter of the ports. `empty` returns an adapter without pets. */
export function describePetsSuite(adapterName: string, empty: () => Promise<PetsAdapter>): void {
  describe(`${adapterName} works as PetRepository, PetReader and PetCatalogue`, () => {
    let repository: PetRepository;
    let reader: PetReader & PetCatalogue;

    beforeEach(async () => {
      ({ repository, reader } = await empty());
    });

    it('finds added pets exactly', async () => {
      await fc.assert(
        fc.asyncProperty(anyNewPet, async (pet) => {
          const added = await repository.add(pet);
          const { status } = added;
          expect(added).toMatchObject({ ...pet });
          expect(await reader.find(added.id)).toEqual({ ...added });
          expect(await reader.exists(added.id)).toBe(true);
          const before = added.id - 1n;
          expect((await reader.list({}, { limit: 1, after: before })).items).toEqual([{ ...added }]);
          expect((await reader.list({ status }, { limit: 1, after: before })).items).toEqual([{ ...added }]);
        }),
        { numRuns: 25 },
      );
    });

    it('assigns unique identifiers, also to concurrent pets', async () => {
      const added = await Promise.all(Array.from({ length: 50 }, () => repository.add(aNewPet())));
      expect(new Set(added.map(({ id }) => id)).size).toBe(50);
    });

    describe('addOnce', () => {
      const key = { clientId: 7n, key: 'order-1' };

      it('adds one pet for any number of repetitions, also concurrent ones', async () => {
        const pet = aNewPet({ name: 'Only', categoryId: 2n ** 53n + 1n, status: 'sold' });
        const results = await Promise.all(Array.from({ length: 30 }, () => repository.addOnce(pet, key)));
        expect(new Set(results.map((result) => result.pet.id)).size).toBe(1);
        expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1);
        expect((await reader.list({}, { limit: 10 })).items).toHaveLength(1);
        const again = await repository.addOnce(pet, key);
        expect(again).toEqual({ pet: results[0]?.pet, replayed: true });
      });

      it('rejects the key for a different pet and adds nothing', async () => {
        await repository.addOnce(aNewPet(), key);
        for (const other of OTHER_PET_VALUES) {
          await expect(repository.addOnce(aNewPet(other), key)).rejects.toThrow(expect.objectContaining(IDEMPOTENCY_KEY_REUSED));
        }
        expect((await reader.list({}, { limit: 10 })).items).toHaveLength(1);
      });

      it('distinguishes the keys of different clients', async () => {
        const pet = aNewPet();
        const keys = [key, { ...key, clientId: 8n }, { ...key, key: 'Order-1' }, { ...key, clientId: 6n }];
        const added = await Promise.all(keys.map((each) => repository.addOnce(pet, each)));
        expect(added.map(({ replayed }) => replayed)).toEqual(keys.map(() => false));
        expect(new Set(added.map(({ pet: { id } }) => id)).size).toBe(keys.length);
        for (const [index, each] of keys.entries())
          expect(await repository.addOnce(pet, each)).toEqual({ pet: added[index]?.pet, replayed: true });
      });
    });

    it('returns nothing for unknown identifiers', async () => {
      for (const id of [0n, -1n, INT64_MIN, INT64_MAX])
        expect([await reader.find(id), await reader.exists(id)]).toEqual([undefined, false]);
      expect((await reader.list({}, { limit: 5 })).items).toEqual([]);
    });

    it('lists by ascending identifier, by status, after an identifier, up to the limit', async () => {
      const added: PetView[] = [];
      for (let i = 0; i < 12; i++) added.push(await repository.add(aNewPet({ name: `pet ${String(i)}`, status: PET_STATUSES[i % 3] })));
      const { items: all } = await reader.list({}, { limit: 100 });
      // Identifiers are not always in the order of insertion.
      expect(all).toEqual(added.map((pet) => ({ ...pet })).toSorted((one, other) => (one.id < other.id ? -1 : 1)));

      const queries = [undefined, ...PET_STATUSES].flatMap((status) =>
        [undefined, INT64_MIN, ...all.map(({ id }) => id), INT64_MAX].flatMap((after) =>
          [1, 3, 100].map((limit) => ({ status, limit, after })),
        ),
      );
      // Concurrently, because an adapter may batch them.
      const results = await Promise.all(queries.map(({ status, ...page }) => reader.list({ status }, page)));
      for (const [index, { status, limit, after }] of queries.entries()) {
        const expected = all.filter((pet) => (status === undefined || pet.status === status) && (after === undefined || pet.id > after));
        const page = expected.slice(0, limit);
        expect(results[index]?.items).toEqual(page);
        expect(results[index]?.next).toBe(expected.length > limit ? page.at(-1)?.id : undefined);
      }
    });

    it('lists by identifier: at most one pet, which matches the status and comes after the identifier of the page', async () => {
      for (const status of PET_STATUSES) await repository.add(aNewPet({ name: `a "${status}" pet`, categoryId: 2n ** 53n + 1n, status }));
      const { items: all } = await reader.list({}, { limit: 100 });
      const ids = [INT64_MIN, -1n, 0n, ...all.map((pet) => pet.id), (all.at(-1)?.id ?? 0n) + 1n, INT64_MAX];
      const queries = ids.flatMap((id) =>
        [undefined, ...PET_STATUSES].flatMap((status) => [undefined, ...ids].map((after) => ({ id, status, after }))),
      );
      const results = await Promise.all(queries.map(({ after, ...filter }) => reader.list(filter, { limit: 1, after })));
      for (const [index, { id, status, after }] of queries.entries()) {
        const expected = all.filter(
          (pet) => pet.id === id && (status === undefined || pet.status === status) && (after === undefined || pet.id > after),
        );
        expect([results[index]?.items, results[index]?.next]).toEqual([expected, undefined]);
      }
    });

    it('returns names that look like JSON unchanged', async () => {
      const names = [',{"id":', '},{"id":1}', '\\",{\\"id\\":', '","x":"'];
      const added: PetView[] = [];
      for (const name of names) added.push(await repository.add(aNewPet({ name, status: 'sold' })));
      added.sort((one, other) => (one.id < other.id ? -1 : 1));
      for (let limit = 1; limit <= names.length; limit++) {
        const { items } = await reader.list({ status: PetStatus.Sold }, { limit });
        expect(items.map(({ name }) => name)).toEqual(added.slice(0, limit).map(({ name }) => name));
      }
    });
  });
}
