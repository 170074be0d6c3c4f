import { setTimeout as sleep } from 'node:timers/promises';
import { type DataSource, type Migration, MigrationExecutor, type MigrationInterface, type QueryRunner } from 'typeorm';
import { MIGRATIONS_TABLE, poolOf, urlOf } from './data-source.js';
import { DatabaseClient } from './database-client.js';

/** Key of the advisory lock that one migrating process holds; the number only has to be ours. */
const MIGRATION_LOCK = 7_302_947_561_038_214n;
const LOCK_POLL_MS = 200;
/** Whoever queues behind a migration's lock on a table waits no longer than this; then the migration steps back and tries again. */
const TABLE_LOCK_TIMEOUT_MS = 2_000;
const TABLE_LOCK_ATTEMPTS = 30;
const TABLE_LOCK_PAUSE_MS = 1_000;
const LOCK_NOT_AVAILABLE = '55P03';
const UNDEFINED_TABLE = '42P01';

export interface MigrationStatus {
  readonly name: string;
  readonly applied: boolean;
}

/** Applies what is pending and returns the names; processes that start at once do it one after the other. */
export async function migrateUp(dataSource: DataSource): Promise<string[]> {
  if ((await pendingMigrations(dataSource)).length === 0) return [];
  return withMigrationLock(dataSource, async () => {
    const pending = await pendingMigrations(dataSource);
    await withShortTableLocks(dataSource, (executor) => executor.executePendingMigrations());
    return pending.map(({ name }) => name);
  });
}

/** Takes back the newest applied migration and returns its name, or undefined when there is none. */
export async function migrateDown(dataSource: DataSource): Promise<string | undefined> {
  return withMigrationLock(dataSource, async () => {
    const [newest] = await executedMigrations(dataSource);
    // TypeORM heeds a migration's own `transaction = false` on the way up only.
    const instance = dataSource.migrations.find((migration) => nameOf(migration) === newest?.name);
    if (newest) {
      await withShortTableLocks(dataSource, async (executor) => {
        if (instance?.transaction === false) executor.transaction = 'none';
        await executor.undoLastMigration();
      });
    }
    return newest?.name;
  });
}

export async function migrationStatus(dataSource: DataSource): Promise<MigrationStatus[]> {
  const pending = new Set((await pendingMigrations(dataSource)).map(({ name }) => name));
  return dataSource.migrations.map((migration) => {
    const name = nameOf(migration);
    return { name, applied: !pending.has(name) };
  });
}

function nameOf(migration: MigrationInterface): string {
  return migration.name ?? migration.constructor.name;
}

async function pendingMigrations(dataSource: DataSource): Promise<Migration[]> {
  return new MigrationExecutor(dataSource).getPendingMigrations();
}

/** Whether every migration is applied, by one statement; the database may be ahead. */
export async function isMigrated(dataSource: DataSource): Promise<boolean> {
  try {
    const { rows } = await poolOf(dataSource).query<{ name: string }>(`SELECT name FROM ${MIGRATIONS_TABLE}`);
    const applied = new Set(rows.map(({ name }) => name));
    return dataSource.migrations.every((migration) => applied.has(nameOf(migration)));
  } catch (error) {
    if ((error as { code?: unknown }).code === UNDEFINED_TABLE) return false;
    throw error;
  }
}

/** For statements that wait for long transactions without holding anybody up, such as CREATE INDEX CONCURRENTLY. */
export async function withoutLockTimeout(queryRunner: QueryRunner, work: () => Promise<void>): Promise<void> {
  await queryRunner.query('SET lock_timeout = 0');
  await work();
  await queryRunner.query(`SET lock_timeout = ${String(TABLE_LOCK_TIMEOUT_MS)}`);
}

/** Newest first. */
function executedMigrations(dataSource: DataSource): Promise<Migration[]> {
  return new MigrationExecutor(dataSource).getExecutedMigrations();
}

/**
 * Polls instead of waiting inside PostgreSQL: a session blocked in pg_advisory_lock holds a snapshot, for which
 * CREATE INDEX CONCURRENTLY of the lock's holder would wait in turn, a deadlock.
 */
async function withMigrationLock<T>(dataSource: DataSource, work: () => Promise<T>): Promise<T> {
  const client = new DatabaseClient({ url: urlOf(dataSource) });
  client.on('error', () => undefined);
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [MIGRATION_LOCK]);
      if (rows[0]?.locked) break;
      await sleep(LOCK_POLL_MS);
    }
    return await work();
  } finally {
    // Closing the session releases the lock.
    await client.end();
  }
}

/** What was applied before an attempt failed stays applied: each migration is a transaction of its own. */
async function withShortTableLocks(dataSource: DataSource, work: (executor: MigrationExecutor) => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const queryRunner = dataSource.createQueryRunner();
    const executor = new MigrationExecutor(dataSource, queryRunner);
    executor.transaction = 'each';
    try {
      await queryRunner.query(`SET lock_timeout = ${String(TABLE_LOCK_TIMEOUT_MS)}`);
      await work(executor);
      return;
    } catch (error) {
      if (attempt === TABLE_LOCK_ATTEMPTS || (error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error;
    } finally {
      await queryRunner.query('RESET lock_timeout').catch(() => undefined);
      await queryRunner.release();
    }
    await sleep(TABLE_LOCK_PAUSE_MS);
  }
}
