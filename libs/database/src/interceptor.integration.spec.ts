import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Statement } from './connection/statement.js';
import { Database } from './database.js';
import { Replicas } from './replicas/replicas.js';
import { PreparedStatement } from './statements/prepared-statement.js';

const ECHO = new PreparedStatement('echo', 'SELECT value FROM unnest($1::text[]) AS given (value)', ([value]: [string]) => value);
const echoed = { name: 'echo', text: ECHO.text, values: ['{"a","b"}'] };

let database: TestDatabase;
let dataSource: Database;
let statements: Statement[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

beforeEach(async () => {
  const interceptor = async <Result>(statement: Statement, run: () => Promise<Result>) => {
    statements.push(statement);
    return run();
  };
  dataSource = await new Database({ url: database.url, applicationName: 'spec', poolSize: 1, persistence: [], interceptor }).initialize();
  // Without the statements that TypeORM runs while it connects.
  statements = [];
});
afterEach(() => dataSource.destroy());

it('an interceptor runs prepared statements, once each, whether or not there are replicas', async () => {
  for (const executor of [dataSource.pool, new Replicas(() => dataSource.pool, [])])
    expect(await ECHO.run(executor, [['a', 'b']])).toEqual(['a', 'b']);
  expect(statements).toEqual([echoed, echoed]);
});

it('an interceptor runs the statements of TypeORM, with those of a transaction', async () => {
  expect(await dataSource.transaction((manager) => manager.query('SELECT $1::text AS text', ['a']))).toEqual([{ text: 'a' }]);
  await expect(dataSource.query('SELECT 1 / 0')).rejects.toMatchObject({ code: '22012' });
  expect(statements).toEqual([
    { text: expect.stringContaining('START TRANSACTION') },
    { text: 'SELECT $1::text AS text', values: ['a'] },
    { text: 'COMMIT' },
    { text: 'SELECT 1 / 0' },
  ]);
});
