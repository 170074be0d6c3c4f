import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Pool } from 'pg';
import { Database, type DatabaseOptions } from '../database.js';
import type { DatabasePool } from '../connection/database-pool.js';
import { PreparedStatement } from './prepared-statement.js';

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

  it('is not named if preparedStatements is false', async () => {
    const pool = await open({ preparedStatements: false });
    for (const id of [1n, 2n]) expect(await ECHO.run(pool, [['Tom'], [id]])).toEqual([{ name: 'Tom', id, nothing: null }]);
    expect(await prepared(pool)).toEqual([]);
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
    const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
    for (let i = 0; i < 3; i++) {
      collect({ type: 'minor' });
      await setImmediate();
    }
    // This function still refers to the last one.
    expect(rows.slice(0, 2).map((row) => row.deref())).toEqual([undefined, undefined]);
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
