import { DomainError, IDEMPOTENCY_KEY_REUSED } from '@animal-store/kernel';
import { VISIT_NOT_FOUND } from '@animal-store/visits-domain';
import { aNewVisit, InMemoryVisits, OTHER_VISIT_VALUES } from '@animal-store/visits-testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CreateVisit, GetVisit, ListVisits } from './index.js';

describe('CreateVisit', () => {
  it('adds the visit and returns it with its identifier', async () => {
    const visits = new InMemoryVisits();
    const values = aNewVisit();
    const { visit, replayed } = await new CreateVisit(visits).execute(values);
    expect(visit).toMatchObject({ ...values });
    expect(replayed).toBe(false);
    expect(await visits.find(visit.id)).toEqual({ ...visit });
  });

  it('returns the first result to a retry with the same key', async () => {
    const createVisit = new CreateVisit(new InMemoryVisits());
    const key = { clientId: 1n, key: 'a' };
    const values = aNewVisit();
    const first = await createVisit.execute(values, key);
    expect(await createVisit.execute(values, key)).toEqual({ visit: first.visit, replayed: true });
    const other = aNewVisit(OTHER_VISIT_VALUES[0]);
    await expect(createVisit.execute(other, key)).rejects.toThrow(expect.objectContaining(IDEMPOTENCY_KEY_REUSED));
  });

  it('rejects invalid values and adds nothing', async () => {
    const visits = new InMemoryVisits();
    await expect(new CreateVisit(visits).execute({ ...aNewVisit(), name: '' })).rejects.toThrow(DomainError);
    expect((await visits.list({}, { limit: 10 })).items).toEqual([]);
  });
});

describe('GetVisit', () => {
  it('returns the visit', async () => {
    const visits = new InMemoryVisits();
    const { id } = await visits.add(aNewVisit());
    expect(await new GetVisit(visits).execute(id)).toMatchObject({ id });
  });

  it('throws if there is none', async () => {
    await expect(new GetVisit(new InMemoryVisits()).execute(1n)).rejects.toThrow(expect.objectContaining(VISIT_NOT_FOUND));
  });
});

describe('ListVisits', () => {
  it('returns a next page only if there are more, and each visit on exactly one page', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(30), fc.integer({ min: 1, max: 12 }), async (count, limit) => {
        const visits = new InMemoryVisits();
        for (let i = 0; i < count; i++) await visits.add(aNewVisit());
        const listVisits = new ListVisits(visits);
        const visited: bigint[] = [];
        let after: bigint | undefined;
        do {
          const { items, next } = await listVisits.execute({}, { limit, after });
          const ids = items.map(({ id }) => id);
          expect(ids.length).toBeLessThanOrEqual(limit);
          visited.push(...ids);
          expect(next).toBe(visited.length < count ? ids.at(-1) : undefined);
          after = next;
        } while (after !== undefined);
        expect(visited).toEqual((await visits.list({}, { limit: 100 })).items.map(({ id }) => id));
      }),
    );
  });
});
