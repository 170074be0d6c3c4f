import { query, waitFor } from '@animal-store/local-postgres/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { json, runAnimalStore, useAnimalStore } from './testing/run-animal-store.js';

const store = useAnimalStore();

describe('animal-store seed', () => {
  beforeEach(() => query(store.url, 'TRUNCATE pets.pets RESTART IDENTITY CASCADE'));

  it('adds the same pets for the same seed and updates the planner statistics', async () => {
    const startedAt = performance.now();
    const first = await store.run('seed', '--count', '3500', '--seed', '7', '--pending-share', '0.1');
    const maxSeconds = (performance.now() - startedAt) / 1000;
    expect(first).toMatchObject({ exitCode: 0, stderr: '' });
    const added = await store.run('seed', '--count', '3500', '--seed', '7', '--pending-share', '0.1', '--json');
    const { byStatus, seconds, ...rest } = json<{ byStatus: Record<string, number>; seconds: number }>(added);
    expect(rest).toEqual({ count: 3500, seed: 7 });
    expect(seconds).toBeGreaterThan(0);
    const { available = 0, pending, sold } = byStatus;
    const [, shown] =
      new RegExp(
        `^Added 3,500 pets in ([\\d.]+) s: ${available.toLocaleString('en')} available, ${pending} pending, ${sold} sold\\.\\n$`,
      ).exec(first.stdout) ?? [];
    expect(Number(shown)).toBeLessThanOrEqual(maxSeconds + 0.05);

    const halves = await query<{ n: number; pets: string; available: number; pending: number; sold: number }>(
      store.url,
      `SELECT count(*)::int AS n, md5(string_agg(name || category_id || status, ',' ORDER BY id)) AS pets,
         count(*) FILTER (WHERE status = 'available')::int AS available,
         count(*) FILTER (WHERE status = 'pending')::int AS pending, count(*) FILTER (WHERE status = 'sold')::int AS sold
       FROM pets.pets GROUP BY id > 3500`,
    );
    expect(halves).toHaveLength(2);
    expect(halves[0]).toEqual(halves[1]);
    expect(halves[0]).toMatchObject({ n: 3500, ...byStatus });
    expect(await query(store.url, `SELECT reltuples FROM pg_class WHERE oid = 'pets.pets'::regclass`)).toEqual([{ reltuples: 7000 }]);
  });

  it('shows the progress on a terminal', async () => {
    const run = (...args: string[]) => runAnimalStore({ DATABASE_URL: store.url }, ['seed', '--count', '2500', ...args], { isTTY: true });
    expect((await run()).stderr.replace('\u001b', 'ESC')).toMatch(/^(?:\r\[[# ]{30}\] +\d+ % {2}[12],[05]00 of 2,500)+\rESC\[K$/);
    expect((await run('--json')).stderr).toBe('');
  });

  it('accepts shares that add up to 1', async () => {
    const { stdout } = await store.run('seed', '--count', '1', '--pending-share', '1', '--sold-share', '0', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ count: 1, seed: 1, byStatus: { available: 0, pending: 1, sold: 0 } });
    expect(await store.run('seed', '--count', '1', '--pending-share', '0.5', '--sold-share', '0.5')).toMatchObject({ exitCode: 0 });
  });

  it('adds all or none, reports a lost connection and closes it', async () => {
    const sessions = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'animal-store seed'`;
    await query(store.url, 'ALTER TABLE pets.pets ADD CONSTRAINT no_rex CHECK (name <> $$Rex$$) NOT VALID');
    expect(await store.run('seed', '--count', '3500')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: .*"no_rex"\n$/),
    });
    await query(store.url, 'ALTER TABLE pets.pets DROP CONSTRAINT no_rex');
    expect(await query(store.url, 'SELECT FROM pets.pets')).toEqual([]);
    await waitFor(async () => expect(await query(store.url, sessions)).toEqual([]));

    const holder = new Client({ connectionString: store.url });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE pets.pets');
    const lost = store.run('seed', '--count', '1');
    const [session] = await waitFor(async () => {
      const found = await query(store.url, `${sessions} AND state = 'active' AND query LIKE 'COPY%'`);
      expect(found).toHaveLength(1);
      return found;
    });
    await query(store.url, `SELECT pg_terminate_backend(${String(session?.['pid'])})`);
    expect(await lost).toEqual({ exitCode: 1, stdout: '', stderr: expect.stringMatching(/^error: the database cannot be used: .+\n$/) });
    await holder.end();
    expect(await query(store.url, 'SELECT FROM pets.pets')).toEqual([]);
  });
});
