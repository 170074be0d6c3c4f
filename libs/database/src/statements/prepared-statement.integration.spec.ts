import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Pool } from 'pg';
import { Database, type DatabaseOptions } from '../database.js';
import type { DatabasePool } from '../connection/database-pool.js';
import { elementOf, PreparedStatement } from './prepared-statement.js';

let database: TestDatabase;
let dataSource: Database | undefined;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterEach(async () => {
  await dataSource?.destroy();
  dataSource = undefined;
});

afterAll(async () => {
  await database.drop();
});

/** Opens a pool of one connection. */
async function open(options: Partial<DatabaseOptions> = {}): Promise<DatabasePool> {
  dataSource = new Database({ url: database.url, applicationName: 'spec', poolSize: 1, persistence: [], ...options });
  await dataSource.initialize();
  return dataSource.pool;
}

const ECHO = new PreparedStatement(
  'echo',
  'SELECT name, id, NULL FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS given (name, id, ordinal) ORDER BY ordinal',
  ([name, id, nothing]: [string, string, null]) => ({ name, id: BigInt(id), nothing }),
);

const prepared = async (pool: Pool) => (await pool.query<{ name: string }>('SELECT name FROM pg_prepared_statements')).rows;

describe('a prepared statement', () => {
  it('passes texts and int64 to the server and back unchanged', async () => {
    const pool = await open();
    // PostgreSQL cannot store NUL, and UTF-8 cannot encode lone surrogates.
    const character = fc.integer({ min: 1, max: 0x10_ffff }).map((codePoint) => String.fromCodePoint(codePoint).toWellFormed());
    const name = fc.oneof(
      fc.string({ unit: character }),
      fc.string({ unit: fc.constantFrom(...'"\\{},\' \n\t'), maxLength: 9 }),
      fc.constant('NULL'),
    );
    const pet = fc.record({ name, id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) });
    await fc.assert(
      fc.asyncProperty(fc.array(pet), async (pets) => {
        const rows = await ECHO.run(pool, [pets.map(({ name }) => name), pets.map(({ id }) => id)]);
        expect(rows).toEqual(pets.map((given) => ({ ...given, nothing: null })));
      }),
    );
    expect(await prepared(pool)).toEqual([{ name: ECHO.name }]);
  });

  it.each([
    ['DISCARD ALL', 'DISCARD ALL'],
    ['DEALLOCATE ALL', 'DEALLOCATE ALL'],
    ['ALTER TABLE', 'ALTER TABLE public.things ALTER COLUMN name TYPE varchar(9)'],
    ['ALTER TABLE to the former type', 'ALTER TABLE public.things ALTER COLUMN name TYPE text'],
    ['DROP INDEX and CREATE INDEX', 'DROP INDEX public.things_name; CREATE INDEX things_name ON public.things (name)'],
  ])('is prepared again on its connection after %s', async (_what, change) => {
    const pool = await open();
    await pool.query(
      'CREATE TABLE IF NOT EXISTS public.things (name text); CREATE INDEX IF NOT EXISTS things_name ON public.things (name)',
    );
    const read = new PreparedStatement('things', 'SELECT name FROM public.things WHERE name = ANY ($1)', ([name]: [string]) => name);
    const insert = new PreparedStatement(
      'insert_things',
      'INSERT INTO public.things SELECT unnest($1::text[]) RETURNING name',
      ([name]: [string]) => name,
    );
    await insert.run(pool, [['Tom']]);
    await read.run(pool, [['Tom']]);
    const { rows } = await pool.query('SELECT pg_backend_pid() AS pid');
    await pool.query(change);
    expect(await insert.run(pool, [['Kit']])).toEqual(['Kit']);
    expect(await read.run(pool, [['Kit']])).toContain('Kit');
    expect((await pool.query('SELECT pg_backend_pid() AS pid')).rows).toEqual(rows);
  });

  it.each([
    ['does not parse', new PreparedStatement('wrong', 'SELEKT $1::bigint[]', () => undefined), '42601'],
    ['fails', new PreparedStatement('failing', 'SELECT 1 / id FROM unnest($1::bigint[]) AS given (id)', () => undefined), '22012'],
  ])('that %s rejects each time and keeps its connection', async (_, statement, code) => {
    const pool = await open();
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      await expect(statement.run(pool, [[1n, 0n]])).rejects.toMatchObject({ code });
    }
    expect(await ECHO.run(pool, [[], []])).toEqual([]);
    expect(pool.totalCount).toBe(1);
  });

  it('rejects if a row cannot be parsed, and keeps its connection', async () => {
    const pool = await open();
    const statement = new PreparedStatement('unreadable', 'SELECT unnest($1::text[])', ([text]: [string]) => BigInt(text));
    await expect(statement.run(pool, [['1', 'x', 'y']])).rejects.toThrow(new SyntaxError('Cannot convert x to a BigInt'));
    expect(await statement.run(pool, [['1', '2']])).toEqual([1n, 2n]);
    expect(pool.totalCount).toBe(1);
  });

  it('does not keep its rows in memory', async () => {
    const pool = await open({ statementTimeoutMs: 60_000 });
    const rows: WeakRef<object>[] = [];
    for (let i = 0; i < 3; i++) {
      for (const row of await ECHO.run(pool, [['Tom'], [1n]])) rows.push(new WeakRef(row));
      await setImmediate();
    }
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    // This function still refers to the last one.
    const kept = () => rows.slice(0, 2).filter((row) => row.deref());
    for (let i = 0; i < 3 && kept().length > 0; i++) {
      await setImmediate();
      collect();
    }
    expect(kept()).toEqual([]);
  });

  it('rejects if its connection is lost, and is prepared again on the next one', async () => {
    const pool = await open();
    const statement = new PreparedStatement(
      'suicide',
      'SELECT pg_terminate_backend(pg_backend_pid()) FROM unnest($1::int[])',
      () => undefined,
    );
    await expect(statement.run(pool, [[1]])).rejects.toMatchObject({ code: '57P01' });
    expect(await ECHO.run(pool, [['Tom'], [1n]])).toHaveLength(1);
    expect(await prepared(pool)).toEqual([{ name: ECHO.name }]);
  });
});

describe('a prepared statement', () => {
  it('has another name on the server than a statement with the same label and another text', () => {
    const names = ['SELECT 1', 'SELECT 2'].map((text) => new PreparedStatement('x'.repeat(99), text, () => undefined).name);
    expect(names.map((name) => [name.length, /^[\w-]{11} x+$/.test(name)])).toEqual([
      [63, true],
      [63, true],
    ]);
    expect(names[0]).not.toBe(names[1]);
  });
});

it.each([
  [1n, '1'],
  [-2.5, '-2.5'],
  [true, 'true'],
  [null, 'NULL'],
  [undefined, 'NULL'],
  ['NULL', '"NULL"'],
  ['', '""'],
  ['a"b"\\c\\', '"a\\"b\\"\\\\c\\\\"'],
])('the element of an array for %p is %s', (value, text) => {
  expect(elementOf(value)).toBe(text);
});
