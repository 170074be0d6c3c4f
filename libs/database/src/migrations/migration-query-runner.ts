import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import type { DatabaseClient } from '../connection/database-client.js';

/** Not RESET, which restores the timeout of the role. */
export const NO_LOCK_TIMEOUT = 'SET lock_timeout = 0';
/** Statements that end a migration. They run even if the lock is lost. */
const CLEAN_UP = new RegExp(`^(?:ROLLBACK\\b|${NO_LOCK_TIMEOUT}$)`);
/** PostgreSQL requires CREATE on the database for this statement even if the schema exists. */
const CREATE_SCHEMA = /^CREATE SCHEMA IF NOT EXISTS (\w+)$/;
const IDENTIFIER = '(?:"(?:[^"]|"")+"|\\w+)';
const CREATE_INDEX = new RegExp(
  `^\\s*CREATE\\s+(?:UNIQUE\\s+)?INDEX\\s+CONCURRENTLY\\s+(?:IF\\s+NOT\\s+EXISTS\\s+)?(${IDENTIFIER})\\s+ON\\s+(?:ONLY\\s+)?(${IDENTIFIER}\\.)`,
  'i',
);

export class MigrationLockError extends Error {
  override readonly name = 'MigrationLockError';
}

/**
 * Checks before each statement that the session with the lock is alive; otherwise another process may be migrating. Skips CREATE SCHEMA
 * if the schema exists, so that the owner of the schemas can migrate without CREATE on the database. Drops the invalid index of an
 * interrupted CREATE INDEX CONCURRENTLY before it creates the index again.
 */
export class MigrationQueryRunner extends PostgresQueryRunner {
  constructor(
    dataSource: DataSource,
    private readonly lock: DatabaseClient,
  ) {
    super(dataSource.driver as PostgresDriver, 'master');
    this.manager = dataSource.createEntityManager(this);
  }

  override async query(text: string, ...rest: [values?: unknown[], useStructuredResult?: boolean]): Promise<never> {
    if (!CLEAN_UP.test(text)) {
      await this.lock.query('SELECT 1').catch((error: unknown) => {
        throw new MigrationLockError('the connection that holds the migration lock is lost; the migration was stopped', { cause: error });
      });
    }
    const [, schema] = CREATE_SCHEMA.exec(text) ?? [];
    if (schema !== undefined) {
      const found = (await super.query('SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname = $1', [schema])) as unknown[];
      if (found.length > 0) return undefined as never;
    }
    const [, index, prefix] = CREATE_INDEX.exec(text) ?? [];
    if (index !== undefined && prefix !== undefined) await this.dropIfInvalid(prefix + index);
    return super.query(text, ...rest) as Promise<never>;
  }

  private async dropIfInvalid(index: string): Promise<void> {
    const found = (await super.query('SELECT FROM pg_catalog.pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid', [
      index,
    ])) as unknown[];
    if (found.length > 0) await super.query(`DROP INDEX CONCURRENTLY ${index}`);
  }
}
