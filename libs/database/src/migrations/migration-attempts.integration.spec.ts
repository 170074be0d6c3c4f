import { createTestDatabase, query, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The clock of the process, which advances only while it sleeps. */
let nowMs = 0;
/** What happens during the next sleeps. */
const events: (() => Promise<unknown>)[] = [];
const sleep = jest.fn(async (ms: number) => {
  nowMs += ms;
  await events.shift()?.();
});
jest.unstable_mockModule('node:timers/promises', () => ({ setTimeout: sleep }));
const { Database } = await import('../database.js');
const { DatabaseConnection } = await import('../database-connection.js');
const { MigrationLockError } = await import('./migration-query-runner.js');
const { isMigrated, migrateDown, migrateUp, withoutLockTimeout } = await import('./migrations.js');

const settings: unknown[] = [];
let work = (_queryRunner: QueryRunner): Promise<unknown> => Promise.resolve();

class Work1763683200000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await work(queryRunner);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await work(queryRunner);
  }
}

const showTimeout = async (queryRunner: QueryRunner) => settings.push(...((await queryRunner.query('SHOW lock_timeout')) as unknown[]));
/** Fails with the error of a lock timeout. */
const timeOut = (queryRunner: QueryRunner) => queryRunner.query("DO $$ BEGIN RAISE EXCEPTION 'no lock' USING ERRCODE = '55P03'; END $$");

let database: TestDatabase;
let dataSource: InstanceType<typeof Database>;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

beforeEach(async () => {
  // TypeORM logs each failure.
  jest.spyOn(console, 'log').mockImplementation(() => undefined);
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const persistence = [{ schema: 'public', entities: [], migrations: [Work1763683200000] }];
  dataSource = await new Database({ url: database.url, applicationName: 'spec', poolSize: 1, persistence }).initialize();
});

afterEach(async () => {
  jest.restoreAllMocks();
  sleep.mockClear();
  work = () => Promise.resolve();
  nowMs = settings.length = events.length = 0;
  await dataSource.query('DROP TABLE IF EXISTS public.schema_migrations');
  await dataSource.destroy();
});

describe('a migration', () => {
  it('waits 2 seconds for a lock and is tried 15 times, with pauses that grow to 30 seconds', async () => {
    work = async (queryRunner) => {
      await showTimeout(queryRunner);
      await timeOut(queryRunner);
    };
    await expect(migrateUp(dataSource)).rejects.toMatchObject({ code: '55P03' });
    expect(settings).toEqual(Array.from({ length: 15 }, () => ({ lock_timeout: '2s' })));
    const pauses = [1, 2, 4, 8, 16, ...Array.from({ length: 9 }, () => 30)];
    expect(sleep.mock.calls).toEqual(pauses.map((seconds) => [seconds * 1000]));
  });

  it('succeeds at a later attempt, and its connection has no lock timeout afterwards', async () => {
    let attempts = 0;
    work = async (queryRunner) => ++attempts < 3 && timeOut(queryRunner);
    expect(await migrateUp(dataSource)).toEqual(['Work1763683200000']);
    expect(sleep.mock.calls).toEqual([[1_000], [2_000]]);
    expect(await dataSource.query('SHOW lock_timeout')).toEqual([{ lock_timeout: '0' }]);
    attempts = 0;
    expect(await migrateDown(dataSource)).toBe('Work1763683200000');
    expect(attempts).toBe(3);
  });

  it('that fails for another reason is not tried again', async () => {
    work = (queryRunner) => queryRunner.query('SELECT 1 / 0');
    await expect(migrateUp(dataSource)).rejects.toMatchObject({ code: '22012' });
    expect(sleep).not.toHaveBeenCalled();
    expect(await dataSource.query('SHOW lock_timeout')).toEqual([{ lock_timeout: '0' }]);
  });

  it('may wait longer in statements that do not block others', async () => {
    work = async (queryRunner) => {
      await withoutLockTimeout(queryRunner, async () => {
        await showTimeout(queryRunner);
      });
      await showTimeout(queryRunner);
    };
    await migrateUp(dataSource);
    expect(settings).toEqual([{ lock_timeout: '0' }, { lock_timeout: '2s' }]);
  });
});

describe('the migration lock', () => {
  let holder: Client;

  beforeEach(async () => {
    holder = new Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('SELECT pg_advisory_lock($1)', [7_302_947_561_038_214n]);
  });
  afterEach(() => holder.end());

  it.each([
    [undefined, 300],
    [5_500, 5],
  ])('is polled every 200 ms until the timeout of %p ms, and the wait is reported once after 5 seconds', async (timeoutMs, seconds) => {
    const reports: number[] = [];
    const options = { onWaiting: () => reports.push(nowMs), ...(timeoutMs !== undefined && { timeoutMs }) };
    await expect(migrateUp(dataSource, options)).rejects.toThrow(
      new MigrationLockError(`another process has been migrating the database for ${String(seconds)} s`),
    );
    expect(reports).toEqual([5_000]);
    expect(new Set(sleep.mock.calls.flat())).toEqual(new Set([200]));
    expect(nowMs).toBe(timeoutMs === undefined ? 300_000 : 5_600);
    const sessions = `SELECT pid FROM pg_stat_activity WHERE application_name = 'animal-store migration lock' AND datname = current_database()`;
    while ((await query(database.url, sessions)).length > 0);
  });

  it('is taken as soon as it is released', async () => {
    events.push(
      async () => undefined,
      () => holder.query('SELECT pg_advisory_unlock_all()'),
    );
    expect(await migrateUp(dataSource)).toEqual(['Work1763683200000']);
    expect(sleep).toHaveBeenCalledTimes(2);
  });
});

describe('a DatabaseConnection', () => {
  it('opens after another process has migrated the database, which it polls every 200 ms', async () => {
    const { persistence } = dataSource.settings;
    const other = new Database({ url: database.url, applicationName: 'spec', poolSize: 1, persistence });
    const [connect, onWaiting] = [jest.spyOn(other, 'connect'), jest.fn()];
    const connection = new DatabaseConnection(other);
    expect(connection.hasOpened).toBe(false);
    events.push(
      async () => expect([connection.hasOpened, other.isInitialized, onWaiting.mock.calls]).toEqual([false, true, [[]]]),
      () => migrateUp(dataSource),
    );
    await connection.open({ onWaiting });
    expect(sleep.mock.calls).toEqual([[200], [200]]);
    expect(connection.hasOpened).toBe(true);
    expect(await isMigrated(other)).toBe(true);
    // Connects only once.
    await connection.open();
    expect(connect).toHaveBeenCalledTimes(1);
    await connection.close();
    expect([connection.hasOpened, other.isInitialized]).toEqual([false, false]);
    await connection.close();
  });
});
