import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, TcpProxy, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Database, type DatabaseOptions, pendingMigrations } from './database.js';
import { isDatabaseUnavailable } from './connection/error-meaning.js';
import { migrateUp } from './migrations/migrations.js';
import { PreparedStatement } from './statements/prepared-statement.js';
import { retryRead } from './connection/retry.js';

class CreateThings1763683200000 implements MigrationInterface {
  up = (queryRunner: QueryRunner) => queryRunner.query('CREATE TABLE public.things (id bigint)') as Promise<void>;
  down = (queryRunner: QueryRunner) => queryRunner.query('DROP TABLE public.things') as Promise<void>;
}

class AddNameToThings1763683260000 implements MigrationInterface {
  up = (queryRunner: QueryRunner) => queryRunner.query('ALTER TABLE public.things ADD COLUMN name text') as Promise<void>;
  down = (queryRunner: QueryRunner) => queryRunner.query('ALTER TABLE public.things DROP COLUMN name') as Promise<void>;
}

let database: TestDatabase;
let admin: Client;
const opened: Database[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  admin = new Client({ connectionString: database.url });
  await admin.connect();
});

afterEach(async () => {
  for (const dataSource of opened.splice(0)) await dataSource.destroy();
});

afterAll(async () => {
  await admin.end();
  await database.drop();
});

async function open(options: Partial<DatabaseOptions> = {}): Promise<Database> {
  const dataSource = new Database({ url: database.url, applicationName: 'spec', poolSize: 2, persistence: [], ...options });
  await dataSource.initialize();
  opened.push(dataSource);
  return dataSource;
}

const failure = async (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a statement', () => {
  it('without a response is abandoned 1 s after its timeout, with its connection', async () => {
    const proxy = await TcpProxy.start(database.url);
    const { pool } = await open({ url: proxy.url, statementTimeoutMs: 1_000, poolSize: 1 });
    const backend = async () => (await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
    const first = await backend();
    proxy.slowDown(60_000);
    const error = await failure(pool.query('SELECT 1'));
    expect(isDatabaseUnavailable(error)).toBe(true);
    proxy.slowDown(0);
    expect([first, undefined]).not.toContain(await backend());
    await proxy.cut();
  });
});

describe('a connection', () => {
  it('is awaited for at most connectTimeoutMs if the pool is exhausted', async () => {
    const pool = (await open({ poolSize: 1, connectTimeoutMs: 2_000 })).pool;
    const taken = await pool.connect();
    const error = await failure(pool.query('SELECT 1'));
    expect(error).toEqual(new Error('timeout exceeded when trying to connect'));
    expect(isDatabaseUnavailable(error)).toBe(true);
    taken.release();
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });
});

describe('a timeout of the server', () => {
  const PICK = new PreparedStatement('pick', 'SELECT 1', ([text]) => text);

  it('for idle sessions fails no statement', async () => {
    const { pool } = await open({ poolSize: 1 });
    const closed = new Promise((resolve) => pool.once('remove', resolve));
    await pool.query('SET idle_session_timeout = 20');
    await closed;
    expect(await PICK.run(pool, [])).toEqual(['1']);
  });

  it('that ends a session just as it is used is repeated for reads, and means that the database is unavailable', async () => {
    const { pool } = await open({ poolSize: 1 });
    await pool.query('SET idle_session_timeout = 20');
    // The event loop does not read the end of the session before the next statement is sent.
    const end = performance.now() + 100;
    while (performance.now() < end);
    expect(await retryRead(() => PICK.run(pool, []))).toEqual(['1']);
  });

  it.each([
    ['idle_in_transaction_session_timeout', undefined],
    ['transaction_timeout', undefined],
    ['lock_timeout', '55P03'],
    ['statement_timeout', '57014'],
  ])('%s means that the database is unavailable, and the pool recovers', async (setting, code) => {
    const dataSource = await open({ poolSize: 1 });
    await admin.query('BEGIN; LOCK TABLE pg_catalog.pg_description IN ACCESS EXCLUSIVE MODE');
    const error = await failure(
      dataSource.transaction(async (manager) => {
        await manager.query(`SET LOCAL ${setting} = 20`);
        if (setting.startsWith('idle')) await sleep(200);
        await manager.query('SELECT FROM pg_catalog.pg_description');
      }),
    );
    await admin.query('ROLLBACK');
    expect(isDatabaseUnavailable(error)).toBe(true);
    if (code !== undefined) expect(error).toMatchObject({ code });
    expect(await retryRead(() => PICK.run(dataSource.pool, []))).toEqual(['1']);
  });
});

describe('a migration', () => {
  const schema = { schema: 'public', entities: [], migrations: [CreateThings1763683200000] };

  it('gives up waiting for a lock, so that queries behind it run, and succeeds later', async () => {
    const first = await open({ persistence: [schema] });
    expect(await pendingMigrations(first)).toHaveLength(1);
    await migrateUp(first);
    expect(await pendingMigrations(first)).toHaveLength(0);
    const second = await open({ persistence: [schema, { ...schema, migrations: [AddNameToThings1763683260000] }] });
    expect(await pendingMigrations(second)).toHaveLength(1);

    const reader = await first.pool.connect();
    await reader.query('BEGIN');
    await reader.query('SELECT * FROM public.things');
    const migrated = migrateUp(second);
    await until(`SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'`);
    // Queued behind the migration, which waits for the reader. It succeeds after the migration's lock timeout.
    expect((await first.pool.query('SELECT * FROM public.things')).rows).toEqual([]);
    await expect(migrated).rejects.toMatchObject({ code: '55P03' });
    await reader.query('COMMIT');
    reader.release();
    expect(await migrateUp(second)).toEqual(['AddNameToThings1763683260000']);
    expect(await pendingMigrations(second)).toHaveLength(0);
    expect(await pendingMigrations(first)).toHaveLength(0);
  });

  async function until(query: string): Promise<void> {
    await waitFor(async () => expect((await admin.query(query)).rows).not.toEqual([]));
  }
});
