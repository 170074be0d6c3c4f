import { query } from '@animal-store/local-postgres/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { json, useAnimalStore } from './testing/run-animal-store.js';

const store = useAnimalStore();

describe('animal-store seed', () => {
  beforeAll(async () => {
    expect(await store.run('migrate', 'up')).toMatchObject({ exitCode: 0 });
  });

  it('adds the same pets for the same seed and updates the planner statistics', async () => {
    const first = await store.run('seed', '--count', '3500', '--seed', '7', '--pending-share', '0.1');
    expect(first).toMatchObject({ exitCode: 0, stderr: '' });
    expect(first.stdout).toMatch(/^Added 3,500 pets in [\d.]+ s: [\d,]+ available, \d+ pending, \d+ sold\.\n$/);
    const added = await store.run('seed', '--count', '3500', '--seed', '7', '--pending-share', '0.1', '--json');
    const { byStatus } = json<{ byStatus: Record<string, number> }>(added);

    const halves = await query<{ n: number; pets: string; pending: number; sold: number }>(
      store.url,
      `SELECT count(*)::int AS n, md5(string_agg(name || category_id || status, ',' ORDER BY id)) AS pets,
         count(*) FILTER (WHERE status = 'pending')::int AS pending, count(*) FILTER (WHERE status = 'sold')::int AS sold
       FROM pets.pets GROUP BY id > 3500`,
    );
    expect(halves).toHaveLength(2);
    expect(halves[0]).toEqual(halves[1]);
    expect(halves[0]).toMatchObject({ n: 3500, pending: byStatus['pending'], sold: byStatus['sold'] });
    expect(await query(store.url, `SELECT reltuples FROM pg_class WHERE oid = 'pets.pets'::regclass`)).toEqual([{ reltuples: 7000 }]);
  });
});
