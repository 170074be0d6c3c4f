import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { DatabaseClient, UnnamedStatementsClient } from './database-client.js';
import { PreparedStatement } from '../statements/prepared-statement.js';

let database: TestDatabase;
let client: DatabaseClient;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

beforeEach(async () => {
  client = new DatabaseClient({ url: database.url });
  await client.connect();
  // As if the session were another one of a pooler.
  await client.query('SET synchronous_commit = off; DROP TABLE IF EXISTS public.commits; CREATE TABLE public.commits (id int PRIMARY KEY)');
  client.corrections = 'SET LOCAL synchronous_commit = local';
});
afterEach(() => client.end());

const INSERT = `INSERT INTO public.commits VALUES ($1) RETURNING id, current_setting('synchronous_commit') AS setting`;
const statement = new PreparedStatement('insert', INSERT, ([id, setting]) => ({ id: Number(id), setting }));
const stored = async () => (await client.query<{ id: number }>('SELECT id FROM public.commits ORDER BY id')).rows.map(({ id }) => id);
const corrected = { id: 1, setting: 'local' };

it('corrects the transaction of a write, with a promise, with a callback and for a prepared statement', async () => {
  expect((await client.query(INSERT, [1])).rows).toEqual([corrected]);
  expect((await client.query({ text: INSERT, values: [2] })).rows).toEqual([{ ...corrected, id: 2 }]);
  const rows = await new Promise((resolve) => client.query(INSERT, [3], (_error, result) => resolve(result.rows)));
  expect(rows).toEqual([{ ...corrected, id: 3 }]);
  expect(await statement.execution([4]).runOn(client)).toEqual([{ ...corrected, id: 4 }]);
  expect(await statement.execution([5]).runOn(client)).toEqual([{ ...corrected, id: 5 }]);
  expect(await stored()).toEqual([1, 2, 3, 4, 5]);
  expect(client.getTransactionStatus()).toBe('I');
});

it('also if the client has no prepared statements', async () => {
  const unnamed = new UnnamedStatementsClient({ url: database.url });
  await unnamed.connect();
  unnamed.corrections = 'SET LOCAL synchronous_commit = remote_write';
  expect(await statement.execution([1]).runOn(unnamed)).toEqual([{ id: 1, setting: 'remote_write' }]);
  await unnamed.end();
});

it('corrects a transaction once, after its start', async () => {
  await client.query('START TRANSACTION');
  await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
  expect((await client.query(INSERT, [1])).rows).toEqual([corrected]);
  expect((await client.query('SHOW transaction_isolation')).rows).toEqual([{ transaction_isolation: 'repeatable read' }]);
  await client.query('COMMIT');
  expect(await stored()).toEqual([1]);
  expect((await client.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'off' }]);
});

it('reports the error of the write or of its commit, and stores nothing', async () => {
  await client.query(INSERT, [1]);
  await expect(client.query(INSERT, [1])).rejects.toMatchObject({ code: '23505' });
  await expect(statement.execution([1]).runOn(client)).rejects.toMatchObject({ code: '23505' });
  expect(client.getTransactionStatus()).toBe('I');
  await client.query(
    'ALTER TABLE public.commits ADD CONSTRAINT later UNIQUE (id) DEFERRABLE INITIALLY DEFERRED; ALTER TABLE public.commits DROP CONSTRAINT commits_pkey',
  );
  await expect(client.query(INSERT, [1])).rejects.toMatchObject({ code: '23505' });
  expect(await stored()).toEqual([1]);
});

it('leaves reads, and statements that cannot run in a transaction, alone', async () => {
  expect((await client.query(`SELECT current_setting('synchronous_commit') AS setting`)).rows).toEqual([{ setting: 'off' }]);
  await client.query('VACUUM public.commits');
});
