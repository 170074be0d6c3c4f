import { createTestDatabase, setOddSettings, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { QueryRunner } from 'typeorm';
import { backfill } from './backfill.js';
import { Database } from '../database.js';

const ROWS = 10;
const FILL = { table: 'public.keys', key: ['client', 'name'], set: 'filled = client * 10', where: 'filled IS NULL' };

let database: TestDatabase;
let dataSource: Database;
let runner: QueryRunner;

beforeAll(async () => {
  database = await createTestDatabase();
  await setOddSettings(database.url);
  dataSource = await new Database({ url: database.url, applicationName: 'spec', poolSize: 1, persistence: [] }).initialize();
  runner = dataSource.createQueryRunner();
});
afterAll(async () => {
  await runner.release();
  await dataSource.destroy();
  await database.drop();
});

beforeEach(async () => {
  await runner.query('DROP TABLE IF EXISTS public.keys');
  await runner.query('CREATE TABLE public.keys (client bigint, name text, filled bigint, PRIMARY KEY (client, name))');
  // The columns of the key differ in order, and one row is filled already.
  await runner.query(
    `INSERT INTO public.keys SELECT i / 4, 'k' || 9 - i, CASE WHEN i = 5 THEN 0 END FROM generate_series(0, ${String(ROWS - 1)}) AS i`,
  );
});

const rows = () =>
  runner.query(`SELECT client, filled, xmin::text AS writer FROM public.keys ORDER BY client, name`) as Promise<
    { client: bigint; filled: bigint | null; writer: string }[]
  >;

it('changes all rows that meet the condition, in transactions of one batch each', async () => {
  const inserted = (await rows())[0]?.writer;
  await backfill(runner, FILL, 3);
  const filled = await rows();
  const changed = filled.filter(({ writer }) => writer !== inserted);
  expect(changed.map(({ client, filled: value }) => value === client * 10n)).toEqual(Array.from({ length: ROWS - 1 }, () => true));
  expect(filled.filter(({ writer }) => writer === inserted)).toEqual([{ client: 1n, filled: 0n, writer: inserted }]);
  expect(new Set(changed.map(({ writer }) => writer)).size).toBe(3);
});

it('continues after an interruption', async () => {
  await runner.query(`ALTER TABLE public.keys ADD CHECK (client < 2 OR filled IS NULL)`);
  await expect(backfill(runner, FILL, 3)).rejects.toThrow('check constraint');
  const kept = (await rows()).filter(({ filled }) => filled !== null);
  expect(kept.length).toBe(7);
  await runner.query(`ALTER TABLE public.keys DROP CONSTRAINT keys_check`);
  await backfill(runner, FILL, 3);
  expect((await rows()).filter(({ filled }) => filled === null)).toEqual([]);
  expect((await rows()).slice(0, kept.length)).toEqual(kept);
});

it('is rejected in a transaction, which would keep its locks until the end', async () => {
  await runner.startTransaction();
  await expect(backfill(runner, FILL)).rejects.toThrow('backfill requires a migration with `transaction = false`');
  await runner.rollbackTransaction();
});
