import { query } from '@animal-store/local-postgres/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { describeClient } from '../client/client.suite.js';
import { expectStatus, linksOf } from '../support/http-response.js';
import { INT64_MAX } from '../support/arbitraries.js';
import { NEW_PET, type Pet, readPet } from '../support/json.js';
import { useOwnService } from '../support/use-api.js';

const own = useOwnService(undefined, { RATE_LIMIT: '0' });
const { api } = own;

/** Returns all pages, following the `next` links. */
async function walk(query: string): Promise<Pet[][]> {
  const pages: Pet[][] = [];
  for await (const page of api.readPages(`/v1/pets${query}`)) {
    pages.push(page);
    expect(pages.length).toBeLessThan(1_000); // Prevents an endless loop.
  }
  return pages;
}

describe('a catalogue of twelve pets', () => {
  const STATUSES = ['available', 'pending', 'available', 'sold', 'available', 'pending'] as const;
  const pets: Pet[] = [];

  beforeAll(async () => {
    for (const status of [...STATUSES, ...STATUSES]) pets.push(await api.createPet({ status }));
    pets.sort((one, other) => (one.id < other.id ? -1 : 1));
  });

  it.each([1, 2, 5, 6, 11, 12, 13])('has all pets by id, and a next page if there are more, with a limit of %i', async (limit) => {
    for (const status of [undefined, 'available', 'pending', 'sold'] as const) {
      const expected = pets.filter((pet) => status === undefined || pet.status === status);
      const pages = await walk(`?limit=${limit}${status ? `&status=${status}` : ''}`);
      expect(pages.flat()).toEqual(expected);
      expect(pages.map(({ length }) => length).slice(0, -1)).toEqual(
        Array.from({ length: Math.ceil(expected.length / limit) - 1 }, () => limit),
      );
    }
  });

  it('returns links and locations relative to the origin', async () => {
    expect(linksOf(await api.get('/v1/pets?limit=5'), 'next')).toEqual([expect.stringMatching(/^\/v1\/pets\?/)]);
    const created = await api.create(NEW_PET);
    expect(created.headers['location']).toBe(`/v1/pets/${readPet(created.text).id}`);
    const notFound = await api.get('/v1/pets/-1');
    expect(linksOf(notFound, 'successor-version')).toEqual(['/v1/pets']);
    expect(linksOf(notFound, 'help')).toEqual([]);
  });
});

describe('int64 end to end', () => {
  const LARGE_IDS = [2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 2n, INT64_MAX - 1n, INT64_MAX];

  // Runs after the others, since it removes all pets and changes the ids of those added later. A page of one pet then leads from each id to the next.
  it.each(LARGE_IDS)('the id %d is exact in Location, getPet, list and cursor', async (id) => {
    await setNextPetId(id);
    const created = await api.create(NEW_PET);
    expectStatus(created, 201);
    const pet = readPet(created.text);
    expect(pet.id).toBe(id);
    expect(created.headers['location']).toBe(`/v1/pets/${id}`);
    const fetched = await api.follow(created.headers['location'] ?? '');
    expect(readPet(fetched.text)).toEqual(pet);
    const pages = await walk('?limit=1&status=available');
    expect(pages.flat().map((listed) => listed.id)).toEqual(LARGE_IDS.slice(0, LARGE_IDS.indexOf(id) + 1));
    expect(pages.at(-1)).toEqual([pet]);
  });

  /** Sets the sequence of the database, and so the id of the next pet. Removes the pets with small ids. */
  async function setNextPetId(id: bigint): Promise<void> {
    const sequence = `format('%I.%I', schemaname, sequencename)::regclass`;
    await query(
      own.databaseUrl,
      `SELECT setval(${sequence}, ${id}, false) FROM pg_sequences WHERE sequencename = 'pets_id_seq'`,
      `DELETE FROM pets.pets WHERE id < ${LARGE_IDS[0]}`,
    );
  }
});

describeClient(own);
