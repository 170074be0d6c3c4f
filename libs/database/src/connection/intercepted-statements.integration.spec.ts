import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Database } from '../database.js';
import { Replicas } from '../replicas/replicas.js';
import { PreparedStatement } from '../statements/prepared-statement.js';
import type { Statement, StatementInterceptor } from './statement.js';

const ECHO = new PreparedStatement('echo', 'SELECT value FROM unnest($1::text[]) AS given (value)', ([value]: [string]) => value);

let database: TestDatabase;
let dataSource: Database;
let statements: Statement[] = [];
let results: unknown[] = [];

const interceptor: StatementInterceptor = (statement, run) => {
  statements.push(statement);
  const result = run();
  results.push(result);
  return result;
};

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

beforeEach(async () => {
  dataSource = await new Database({ url: database.url, applicationName: 'spec', poolSize: 1, persistence: [], interceptor }).initialize();
  // Without the statements that TypeORM runs while it connects.
  statements = [];
  results = [];
});
afterEach(() => dataSource.destroy());

describe('an interceptor', () => {
  it('runs the statements of the pool', async () => {
    const { pool } = dataSource;
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    expect((await pool.query('SELECT $1::text AS text', ['a'])).rows).toEqual([{ text: 'a' }]);
    expect((await pool.query({ name: 'two', text: 'SELECT 2 AS two' })).rows).toEqual([{ two: 2 }]);
    expect(await ECHO.run(pool, [['a', 'b']])).toEqual(['a', 'b']);
    await expect(pool.query('SELECT 1 / 0')).rejects.toMatchObject({ code: '22012' });
    expect(statements).toEqual([
      { text: 'SELECT 1 AS one' },
      { text: 'SELECT $1::text AS text', values: ['a'] },
      { name: 'two', text: 'SELECT 2 AS two' },
      expect.objectContaining({ name: 'echo', text: ECHO.text, values: ['{"a","b"}'] }),
      { text: 'SELECT 1 / 0' },
    ]);
    expect(results.every((result) => result instanceof Promise)).toBe(true);
  });

  it('runs the statements of a transaction', async () => {
    expect(await dataSource.transaction((manager) => manager.query('SELECT $1::text AS text', ['a']))).toEqual([{ text: 'a' }]);
    expect(statements).toEqual([
      { text: expect.stringContaining('START TRANSACTION') },
      { text: 'SELECT $1::text AS text', values: ['a'] },
      { text: 'COMMIT' },
    ]);
  });

  it('runs the statements that a replica may execute', async () => {
    const replicas = new Replicas(() => dataSource.pool, [], undefined, interceptor);
    expect(await ECHO.run(replicas, [['a']])).toEqual(['a']);
    const statement = { name: 'echo', text: ECHO.text, values: ['{"a"}'] };
    expect(statements).toEqual([{ ...statement, isReplicable: true }, expect.objectContaining(statement)]);
  });
});
