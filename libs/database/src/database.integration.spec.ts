import { createTestDatabase, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { DataSource } from 'typeorm';
import type { DatabasePool } from './connection/database-pool.js';
import type { Statement } from './connection/statement.js';
import { Database, type DatabaseOptions } from './database.js';
import { Replicas } from './replicas/replicas.js';
import { PreparedStatement } from './statements/prepared-statement.js';
import { FakeServer } from './testing/fake-server.js';

const url = 'postgres://store@db.example/catalogue';
const create = (options: Partial<DatabaseOptions> = {}) =>
  new Database({ url, applicationName: 'spec', poolSize: 3, persistence: [], ...options });

describe('a Database', () => {
  it('belongs to the objects of TypeORM that it creates', () => {
    const database = create();
    expect(Database.of(database.manager)).toBe(database);
    const { manager } = new DataSource({ type: 'postgres', driver: pg });
    expect(() => Database.of(manager)).toThrow(new TypeError('The DataSource must be a Database of @animal-store/database.'));
  });

  it('has replicas only if it has URLs of replicas', async () => {
    expect(create().replicas).toBeUndefined();
    expect(create({ replicaUrls: [] }).replicas).toBeUndefined();
    const replicas = create({ replicaUrls: ['postgres://a:1/x', 'postgres://c/x'] }).replicas;
    expect([...(replicas?.problems ?? [])]).toEqual([
      ['a:1', 'it is not connected yet'],
      ['c:5432', 'it is not connected yet'],
    ]);
    await replicas?.close();
  });

  it.each([
    ['by default', {}, 5_000],
    ['without a statement timeout', { statementTimeoutMs: 0 }, 5_000],
    ['with a statement timeout', { statementTimeoutMs: 2_000 }, 3_000],
  ])(
    'gives up a statement on a replica that does not respond, %s, and closes the pool of the replica',
    async (_when, options, timeoutMs) => {
      const database = create({ replicaUrls: ['postgres://a/x'], ...options });
      const [{ pool }] = (database.replicas as unknown as { readonly replicas: readonly [{ readonly pool: DatabasePool }] }).replicas;
      // The set-up of Jest sets PGCONNECT_TIMEOUT to 60.
      expect(pool.options).toMatchObject({ query_timeout: timeoutMs, connectionTimeoutMillis: 60_000 });
      await database.close();
      expect(pool.ended).toBe(true);
    },
  );
});

it.each([
  ['its first statement', /setting = 'off' ORDER BY/],
  ['the first statement of TypeORM', /version/],
])('connect() leaves no connection open if the server rejects %s', async (_what, rejects) => {
  const server = await FakeServer.start({ rejects });
  await expect(create({ url: `postgres://store@${server.address}/catalogue` }).connect()).rejects.toMatchObject({ code: '42501' });
  await waitFor(() => expect(server.connections).toBe(0));
  expect(server.sessions[0]).toMatchObject({ application_name: 'animal-store probe' });
  server.close();
});

describe('an interceptor', () => {
  const ECHO = new PreparedStatement('echo', 'SELECT value FROM unnest($1::text[]) AS given (value)', ([value]: [string]) => value);
  const PICK = new PreparedStatement('pick', 'SELECT $1::text', ([value]: [string]) => value);
  const echoed = { name: 'echo', batchSize: 2, text: ECHO.text, values: ['{"a","b"}'] };

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

  it('runs prepared statements, once each, whether or not there are replicas', async () => {
    for (const executor of [dataSource.pool, new Replicas(() => dataSource.pool, [])])
      expect(await ECHO.run(executor, [['a', 'b']])).toEqual(['a', 'b']);
    await PICK.run(dataSource.pool, ['a']);
    expect(statements).toEqual([echoed, echoed, { name: 'pick', batchSize: 1, text: PICK.text, values: ['a'] }]);
  });

  it('runs the statements of TypeORM, with those of a transaction', async () => {
    expect(await dataSource.transaction((manager) => manager.query('SELECT $1::text AS text', ['a']))).toEqual([{ text: 'a' }]);
    await expect(dataSource.query('SELECT 1 / 0')).rejects.toMatchObject({ code: '22012' });
    expect(statements).toEqual([
      { text: expect.stringContaining('START TRANSACTION') },
      { text: 'SELECT $1::text AS text', values: ['a'] },
      { text: 'COMMIT' },
      { text: 'SELECT 1 / 0' },
    ]);
  });
});
