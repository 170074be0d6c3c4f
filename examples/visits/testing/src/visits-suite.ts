import { IDEMPOTENCY_KEY_REUSED, INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import type { VisitCatalogue } from '@animal-store/visits-contract';
import type { VisitReader, VisitRepository, VisitView } from '@animal-store/visits-domain';
import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { aNewVisit, anyNewVisit, OTHER_VISIT_VALUES } from './visit-builder.js';

export interface VisitsAdapter {
  readonly repository: VisitRepository;
  readonly reader: VisitReader & VisitCatalogue;
}

/**
 * Defines the tests that every adapter of the ports must pass.
 * @param empty returns an adapter without visits
 */
export function describeVisitsSuite(adapterName: string, empty: () => Promise<VisitsAdapter>): void {
  describe(`${adapterName} works as VisitRepository, VisitReader and VisitCatalogue`, () => {
    let repository: VisitRepository;
    let reader: VisitReader & VisitCatalogue;

    beforeEach(async () => {
      ({ repository, reader } = await empty());
    });

    it('finds exactly what was added', async () => {
      await fc.assert(
        fc.asyncProperty(anyNewVisit, async (visit) => {
          const added = await repository.add(visit);
          expect(added).toMatchObject({ ...visit });
          expect(await reader.find(added.id)).toEqual({ ...added });
          expect(await reader.exists(added.id)).toBe(true);
          expect((await reader.list({}, { limit: 1, after: added.id - 1n })).items).toEqual([{ ...added }]);
        }),
        { numRuns: 50 },
      );
    });

    it('assigns different identifiers, also to concurrent calls', async () => {
      const added = await Promise.all(Array.from({ length: 50 }, () => repository.add(aNewVisit())));
      expect(new Set(added.map(({ id }) => id)).size).toBe(50);
    });

    describe('addOnce', () => {
      const key = { clientId: 7n, key: 'first-1' };

      it('adds one visit, however often and concurrently it is called', async () => {
        const visit = aNewVisit();
        const results = await Promise.all(Array.from({ length: 30 }, () => repository.addOnce(visit, key)));
        expect(new Set(results.map((result) => result.visit.id)).size).toBe(1);
        expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1);
        expect((await reader.list({}, { limit: 10 })).items).toHaveLength(1);
        const again = await repository.addOnce(visit, key);
        expect(again).toEqual({ visit: results[0]?.visit, replayed: true });
      });

      it('rejects the key for different values, and adds nothing', async () => {
        await repository.addOnce(aNewVisit(), key);
        for (const other of OTHER_VISIT_VALUES) {
          await expect(repository.addOnce(aNewVisit(other), key)).rejects.toThrow(expect.objectContaining(IDEMPOTENCY_KEY_REUSED));
        }
        expect((await reader.list({}, { limit: 10 })).items).toHaveLength(1);
      });

      it('separates the keys of different clients', async () => {
        const visit = aNewVisit();
        const first = await repository.addOnce(visit, key);
        const second = await repository.addOnce(visit, { ...key, clientId: 8n });
        const third = await repository.addOnce(visit, { ...key, key: 'First-1' });
        expect([first, second, third].map(({ replayed }) => replayed)).toEqual([false, false, false]);
      });
    });

    it('finds nothing if nothing was added', async () => {
      for (const id of [0n, -1n, INT64_MIN, INT64_MAX])
        expect([await reader.find(id), await reader.exists(id)]).toEqual([undefined, false]);
      expect((await reader.list({}, { limit: 5 })).items).toEqual([]);
    });

    it('lists in ascending order of identifiers, after an identifier, up to the limit', async () => {
      for (let i = 0; i < 8; i++) await repository.add(aNewVisit());
      const { items: all } = await reader.list({}, { limit: 100 });
      expect(all).toHaveLength(8);
      expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted((a, b) => (a < b ? -1 : 1)));

      const requests = [undefined, INT64_MIN, ...all.map(({ id }) => id), INT64_MAX].flatMap((after) =>
        [1, 3, 100].map((limit) => ({ limit, after })),
      );
      // Concurrent calls, because an adapter may serve several requests with one statement.
      const pages = await Promise.all(requests.map((request) => reader.list({}, request)));
      for (const [index, { limit, after }] of requests.entries()) {
        const expected = all.filter(({ id }) => after === undefined || id > after);
        const items = expected.slice(0, limit);
        expect(pages[index]?.items).toEqual(items);
        expect(pages[index]?.next).toBe(expected.length > limit ? items.at(-1)?.id : undefined);
      }
    });

    it('separates the items correctly if a text contains JSON', async () => {
      const added: VisitView[] = [];
      for (const visit of fc.sample(anyNewVisit, { numRuns: 12, seed: 1 })) added.push({ ...(await repository.add(visit)) });
      added.sort((one, other) => (one.id < other.id ? -1 : 1));
      for (let limit = 1; limit <= added.length; limit++) {
        const { items } = await reader.list({}, { limit });
        expect(items).toEqual(added.slice(0, limit));
      }
    });
  });
}
