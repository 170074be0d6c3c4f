import { query } from '@animal-store/local-postgres/testing';
import { beforeEach, expect, it } from '@jest/globals';
import { useAnimalStore } from './testing/run-animal-store.js';

const store = useAnimalStore();

beforeEach(() => query(store.url, 'TRUNCATE pets.pets RESTART IDENTITY CASCADE'));

it('seed adds the same pets for the same seed and updates the planner statistics', async () => {
  const seed = (value: string) => store.run('seed', '--count', '3500', '--seed', value);
  expect(await seed('7')).toEqual({ exitCode: 0, stdout: 'Added 3,500 pets.\n', stderr: '' });
  await seed('7');
  await seed('8');
  const sets = await query<{ n: number; pets: string; sold: number; kinds: number }>(
    store.url,
    `SELECT count(*)::int AS n, md5(string_agg(name || category_id || status, ',' ORDER BY id)) AS pets,
       count(*) FILTER (WHERE status = 'sold')::int AS sold, count(DISTINCT category_id)::int AS kinds
     FROM pets.pets GROUP BY (id - 1) / 3500 ORDER BY (id - 1) / 3500`,
  );
  expect(sets.map(({ n, kinds }) => [n, kinds])).toEqual([1, 2, 3].map(() => [3500, 4]));
  expect(sets[1]).toEqual(sets[0]);
  expect(sets[2]?.pets).not.toBe(sets[0]?.pets);
  // A fifth. The seed is fixed, so the result is always the same.
  expect(Math.abs((sets[0]?.sold ?? 0) - 700)).toBeLessThan(100);
  expect(await query(store.url, `SELECT reltuples > 0 AS analysed FROM pg_class WHERE oid = 'pets.pets'::regclass`)).toEqual([
    { analysed: true },
  ]);
});

it('seed adds all or none', async () => {
  await query(store.url, `ALTER TABLE pets.pets ADD CONSTRAINT no_rex CHECK (name NOT LIKE 'Rex %') NOT VALID`);
  const stderr = expect.stringMatching(/^error: .*"no_rex"\n$/);
  expect(await store.run('seed', '--count', '3500')).toEqual({ exitCode: 1, stdout: '', stderr });
  await query(store.url, 'ALTER TABLE pets.pets DROP CONSTRAINT no_rex');
  expect(await query(store.url, 'SELECT FROM pets.pets')).toEqual([]);
});
