import { setTimeout as sleep } from 'node:timers/promises';
import { MigrationExecutor, type MigrationInterface, type QueryRunner } from 'typeorm';
import { type Database, MIGRATIONS_TABLE } from '../database.js';
import type { DatabaseClient } from '../connection/database-client.js';
import { distribute, tablesToDistribute } from './distribution.js';
import { MigrationLockError, MigrationQueryRunner, NO_LOCK_TIMEOUT } from './migration-query-runner.js';
import { withOwnConnection } from '../connection/own-connection.js';

/** Key of the advisory lock for migrations. The number is arbitrary but must be unique. */
const MIGRATION_LOCK = 7_302_947_561_038_214n;
const LOCK_POLL_MS = 200;
const LOCK_TIMEOUT_MS = 300_000;
const REPORT_WAIT_AFTER_MS = 5_000;
/** Lock timeout for migrations, and so the maximum time that queries queue behind one. Afterwards the migration is retried. */
const TABLE_LOCK_TIMEOUT_MS = 2_000;
const TABLE_LOCK_ATTEMPTS = 15;
/** Doubles with each attempt, up to the maximum: about 5 minutes for all attempts. */
const TABLE_LOCK_PAUSE_MS = 1_000;
const MAX_TABLE_LOCK_PAUSE_MS = 30_000;
/** Migrations may take longer than what the role allows. */
const NO_TIMEOUTS = `SELECT set_config(name, '0', false) FROM pg_catalog.pg_settings WHERE name IN ('statement_timeout', 'transaction_timeout')`;
const LOCK_NOT_AVAILABLE = '55P03';
const UNDEFINED_TABLE = '42P01';

/** Options for waiting until another process has finished migrating. */
export interface LockWait {
  /** The default is 5 minutes. */
  readonly timeoutMs?: number;
  /** Called once, after 5 seconds. */
  readonly onWaiting?: () => void;
  /** Called with a line about a lock that is not available, or about the rows of a backfill. */
  readonly onProgress?: (line: string) => void;
}

export interface MigrationStatus {
  readonly name: string;
  readonly applied: boolean;
}

export interface MigrateOptions extends LockWait {
  /** Called with each table that was distributed, or with undefined if `citus` is on but the extension is missing. */
  readonly onDistributed?: (table: string | undefined) => void;
}

/**
 * Applies pending migrations and returns their names. Concurrent processes run one after the other. If `citus` is on, also distributes
 * the tables that are not distributed yet.
 */
export async function migrateUp(database: Database, options: MigrateOptions = {}): Promise<string[]> {
  if ((await isMigrated(database)) && (await tablesToDistribute(database))?.length === 0) return [];
  return withMigrationLock(database, options, async (lock) => {
    const pending = (await migrationStatus(database)).filter(({ applied }) => !applied);
    await withShortTableLocks(database, lock, options, (executor) => executor.executePendingMigrations());
    await distributeTables(database, options);
    return pending.map(({ name }) => name);
  });
}

async function distributeTables(database: Database, { onDistributed }: MigrateOptions): Promise<void> {
  const tables = await tablesToDistribute(database);
  if (!tables) onDistributed?.(undefined);
  for (const table of tables ?? []) {
    await distribute(database, table);
    onDistributed?.(table.name);
  }
}

export interface MigrationToUndo {
  readonly name: string;
  readonly statements: readonly string[];
}

/** Returns the most recently applied migration and the statements that undo it; undefined if none is applied. */
export async function migrationToUndo(database: Database): Promise<MigrationToUndo | undefined> {
  const { latest: name } = await migrationState(database);
  if (name === undefined) return undefined;
  const latest = database.migrations.find((migration) => nameOf(migration) === name);
  if (!latest) throw new Error(`the latest migration, ${name}, is not part of this version`);
  const statements: string[] = [];
  const recorder = { query: (text: string) => Promise.resolve(void statements.push(text)) };
  await latest.down(recorder as unknown as QueryRunner);
  return { name, statements };
}

/**
 * Undoes the most recently applied migration and returns its name, or undefined if none is applied.
 * @throws Error if that migration is not the expected one
 */
export async function migrateDown(database: Database, expected?: string, wait?: LockWait): Promise<string | undefined> {
  return withMigrationLock(database, wait, async (lock) => {
    const { latest } = await migrationState(database);
    if (expected !== undefined && latest !== expected) throw new Error(`the latest migration is no longer ${expected}`);
    if (latest === undefined) return undefined;
    // TypeORM respects a migration's own `transaction = false` only when applying the migration, not when undoing it.
    const instance = database.migrations.find((migration) => nameOf(migration) === latest);
    await withShortTableLocks(database, lock, wait, async (executor) => {
      if (instance?.transaction === false) executor.transaction = 'none';
      await executor.undoLastMigration();
    });
    return latest;
  });
}

/** Returns the migrations of all contexts, ordered by timestamp. */
export async function migrationStatus(database: Database): Promise<MigrationStatus[]> {
  const applied = await appliedMigrations(database);
  const names = database.migrations.map(nameOf).sort((one, other) => timestampOf(one) - timestampOf(other));
  return names.map((name) => ({ name, applied: applied.has(name) }));
}

/** Returns the timestamp of 13 digits at the end of the name. */
function timestampOf(name: string): number {
  return Number(name.slice(-13));
}

export interface MigrationState {
  /** Number of this release's migrations that are not applied. */
  readonly pending: number;
  /** The most recently applied migration, possibly of a later release; undefined if none is applied. */
  readonly latest: string | undefined;
}

/** Returns the state of the database in one statement. */
export async function migrationState(database: Database): Promise<MigrationState> {
  const applied = await appliedMigrations(database);
  const pending = database.migrations.filter((migration) => !applied.has(nameOf(migration))).length;
  return { pending, latest: [...applied].at(-1) };
}

function nameOf(migration: MigrationInterface): string {
  return migration.name ?? migration.constructor.name;
}

/** Whether every migration of this release is applied. Runs one statement. */
export async function isMigrated(database: Database): Promise<boolean> {
  return (await migrationState(database)).pending === 0;
}

/** Returns the names, oldest first. Does not create the table, because it runs without the lock. */
async function appliedMigrations(database: Database): Promise<ReadonlySet<string>> {
  try {
    const { rows } = await database.pool.query<{ name: string }>(`SELECT name FROM ${MIGRATIONS_TABLE} ORDER BY id`);
    return new Set(rows.map(({ name }) => name));
  } catch (error) {
    if ((error as { code?: unknown }).code === UNDEFINED_TABLE) return new Set();
    throw error;
  }
}

/** Runs `work` without a lock timeout, for statements that wait without blocking others, such as CREATE INDEX CONCURRENTLY. */
export async function withoutLockTimeout(queryRunner: QueryRunner, work: () => Promise<void>): Promise<void> {
  await queryRunner.query(NO_LOCK_TIMEOUT);
  await work();
  await queryRunner.query(`SET lock_timeout = ${String(TABLE_LOCK_TIMEOUT_MS)}`);
}

/**
 * Runs `work` while holding the migration lock. Polls for the lock: a session blocked in pg_advisory_lock holds a snapshot, and
 * CREATE INDEX CONCURRENTLY in the process that holds the lock would wait for that snapshot, a deadlock.
 */
async function withMigrationLock<T>(
  database: Database,
  { timeoutMs = LOCK_TIMEOUT_MS, onWaiting }: LockWait = {},
  work: (lock: DatabaseClient) => Promise<T>,
): Promise<T> {
  return withOwnConnection(database.settings.url, 'animal-store migration lock', async (client) => {
    const startedAt = performance.now();
    for (let isReported = false; ;) {
      const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [MIGRATION_LOCK]);
      if (rows[0]?.locked) break;
      const waitedMs = performance.now() - startedAt;
      if (waitedMs >= timeoutMs)
        throw new MigrationLockError(`another process has been migrating the database for ${Math.floor(waitedMs / 1000)} s`);
      if (!isReported && waitedMs >= REPORT_WAIT_AFTER_MS) {
        isReported = true;
        onWaiting?.();
      }
      await sleep(LOCK_POLL_MS);
    }
    return work(client);
  });
}

/** Retries `work` when a table lock times out. Each migration is a separate transaction, so earlier ones stay applied. */
async function withShortTableLocks(
  database: Database,
  lock: DatabaseClient,
  { onProgress }: LockWait = {},
  work: (executor: MigrationExecutor) => Promise<unknown>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const queryRunner = new MigrationQueryRunner(database, lock);
    queryRunner.data = { onProgress };
    const executor = new MigrationExecutor(database, queryRunner);
    executor.transaction = 'each';
    try {
      await queryRunner.query(`SET lock_timeout = ${String(TABLE_LOCK_TIMEOUT_MS)}`);
      await queryRunner.query(NO_TIMEOUTS);
      await work(executor);
      return;
    } catch (error) {
      if (attempt === TABLE_LOCK_ATTEMPTS || (error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error;
    } finally {
      await queryRunner.query(NO_LOCK_TIMEOUT).catch(() => undefined);
      await queryRunner.release();
    }
    const pauseMs = Math.min(TABLE_LOCK_PAUSE_MS * 2 ** (attempt - 1), MAX_TABLE_LOCK_PAUSE_MS);
    const pauseSeconds = String(pauseMs / 1000);
    onProgress?.(`a table lock is not available; the next attempt is in ${pauseSeconds} s`);
    await sleep(pauseMs);
  }
}

/** Reports progress to whoever started the migration. */
export function reportProgress({ data }: QueryRunner, line: string): void {
  (data as Pick<LockWait, 'onProgress'> | undefined)?.onProgress?.(line);
}
