import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type DataSource, type Migration, MigrationExecutor, type MigrationInterface } from 'typeorm';

/** Key of the advisory lock that one migrating process holds; the number only has to be ours. */
const MIGRATION_LOCK = 7_302_947_561_038_214n;
const LOCK_POLL_MS = 200;

export interface MigrationStatus {
  readonly name: string;
  readonly applied: boolean;
}

/** Applies what is pending and returns the names; processes that start at once do it one after the other. */
export async function migrateUp(dataSource: DataSource): Promise<string[]> {
  if ((await pendingMigrations(dataSource)).length === 0) return [];
  return withMigrationLock(dataSource, async () => {
    const applied = await dataSource.runMigrations();
    return applied.map(({ name }) => name);
  });
}

/** Takes back the newest applied migration and returns its name, or undefined when there is none. */
export async function migrateDown(dataSource: DataSource): Promise<string | undefined> {
  return withMigrationLock(dataSource, async () => {
    const [newest] = await executedMigrations(dataSource);
    // TypeORM heeds a migration's own `transaction = false` on the way up only.
    const instance = dataSource.migrations.find((migration) => nameOf(migration) === newest?.name);
    if (newest) await dataSource.undoLastMigration({ transaction: instance?.transaction === false ? 'none' : 'each' });
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

export async function pendingMigrations(dataSource: DataSource): Promise<Migration[]> {
  return new MigrationExecutor(dataSource).getPendingMigrations();
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
  const { url } = dataSource.options as { url: string };
  const client = new Client({ connectionString: url });
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
