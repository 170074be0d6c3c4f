import { setTimeout as sleep } from 'node:timers/promises';
import { MigrationExecutor, type MigrationInterface, QueryFailedError, type QueryRunner } from 'typeorm';
import { isMistake } from '../connection/error-meaning.js';
import { withOwnConnection } from '../connection/database-client.js';
import { type Database, pendingMigrations } from '../database.js';
import { distribute, tablesToDistribute } from './distribution.js';

/** Key of the advisory lock for migrations. The number is arbitrary but must be unique. */
const MIGRATION_LOCK = 7_302_947_561_038_214n;
const LOCK_POLL_MS = 200;
const MAX_WAIT_MS = 300_000;
const RANGE_ROWS = 5_000;
/** Maximum time that a statement of a migration waits for a table, and so the time that queries queue behind it. */
const LOCK_TIMEOUT = `SET lock_timeout = '5s'`;
const setTimeouts = (value: string) =>
  `SELECT set_config(name, ${value}, false) FROM pg_settings WHERE name IN ('lock_timeout', 'statement_timeout', 'transaction_timeout')`;

/** A migration failed, and a repetition alone does not cure it. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/** A migration is not reverted: restore a backup, or write another migration. */
export abstract class ForwardMigration implements MigrationInterface {
  abstract up(queryRunner: QueryRunner): Promise<void>;

  down(): Promise<void> {
    return Promise.reject(new MigrationError('migrations go forward only'));
  }
}

export interface MigrateOptions {
  /** Maximum time to wait for another process that migrates. The default is 5 minutes. */
  readonly maxWaitMs?: number;
  /** Called with each table that was distributed, or with undefined if `citus` is on but the extension is missing. */
  readonly onDistributed?: (table: string | undefined) => void;
}

/**
 * Applies pending migrations, returns their names, and distributes tables if `citus` is on. Concurrent processes run one after the other.
 * Each migration is a transaction, so those before a failed one stay applied.
 * @throws MigrationError with the statement that failed, or if another process migrates for too long
 */
export async function migrateUp(database: Database, options: MigrateOptions = {}): Promise<string[]> {
  if ((await pendingMigrations(database)).length === 0 && (await tablesToDistribute(database))?.length === 0) return [];
  return withMigrationLock(database, options, async () => {
    const pending = await pendingMigrations(database);
    await applyPending(database);
    const tables = await tablesToDistribute(database);
    if (!tables) options.onDistributed?.(undefined);
    for (const table of tables ?? []) {
      await distribute(database, table);
      options.onDistributed?.(table.name);
    }
    return pending;
  });
}

async function applyPending(database: Database): Promise<void> {
  const queryRunner = database.createQueryRunner();
  const executor = new MigrationExecutor(database, queryRunner);
  executor.transaction = 'each';
  let failure = '';
  // The message names the migration. TypeORM would write it to stdout.
  database.logger.logMigration = (message) => (failure = message);
  try {
    // Migrations may take longer than what the role allows.
    await queryRunner.query(`${setTimeouts("'0'")}; ${LOCK_TIMEOUT}`);
    await executor.executePendingMigrations();
  } catch (error) {
    if (!(error instanceof QueryFailedError)) throw error;
    Object.assign(error, failure && { message: failure });
    if (!isMistake(error)) throw error;
    throw new MigrationError(`${error.message}\nin the statement ${error.query}`);
  } finally {
    await queryRunner.query(setTimeouts('reset_val')).catch(() => undefined);
    await queryRunner.release();
  }
}

/** Runs `work` without a lock timeout, for statements that wait without blocking others, such as CREATE INDEX CONCURRENTLY. */
export async function withoutLockTimeout(queryRunner: QueryRunner, work: () => Promise<void>): Promise<void> {
  await queryRunner.query('SET lock_timeout = 0');
  await work();
  await queryRunner.query(LOCK_TIMEOUT);
}

/** Changes a table in ranges of `id`, by a statement with `id BETWEEN $1 AND $2`. The migration needs `transaction = false`. */
export async function changeInRanges(queryRunner: QueryRunner, table: string, statement: string): Promise<void> {
  let previous: bigint | null = null;
  for (;;) {
    const [range] = (await queryRunner.query(
      `SELECT min(id) AS first, max(id) AS last FROM (SELECT id FROM ${table} WHERE $1::bigint IS NULL OR id > $1 ORDER BY id LIMIT ${String(RANGE_ROWS)}) AS rows`,
      [previous],
    )) as { first: bigint | null; last: bigint | null }[];
    if (!range || range.last === null) return;
    await queryRunner.query(statement, [range.first, range.last]);
    previous = range.last;
  }
}

/** Polls, because a session that waits in pg_advisory_lock has a snapshot: CREATE INDEX CONCURRENTLY would wait for it, a deadlock. */
async function withMigrationLock<T>(database: Database, { maxWaitMs = MAX_WAIT_MS }: MigrateOptions, work: () => Promise<T>): Promise<T> {
  return withOwnConnection(database.settings, 'animal-store migration lock', async (client) => {
    const deadline = performance.now() + maxWaitMs;
    for (;;) {
      const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [MIGRATION_LOCK]);
      if (rows[0]?.locked) return work();
      if (performance.now() >= deadline)
        throw new MigrationError(`another process has been migrating the database for ${String(maxWaitMs / 1000)} s`);
      await sleep(LOCK_POLL_MS);
    }
  });
}
