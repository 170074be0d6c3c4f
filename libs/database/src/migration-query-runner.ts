import type { DataSource } from 'typeorm';
import type { DatabaseClient } from './database-client.js';
import { DatabaseQueryRunner } from './query-runner.js';

/** Statements that end a migration. They run even if the lock is lost. */
const CLEAN_UP = /^(?:ROLLBACK|RESET)\b/;
/** PostgreSQL requires CREATE on the database for this statement even if the schema exists. */
const CREATE_SCHEMA = /^CREATE SCHEMA IF NOT EXISTS (\w+)$/;

export class MigrationLockError extends Error {
  override readonly name = 'MigrationLockError';
}

/**
 * Checks before each statement that the session with the lock is alive; otherwise another process may be migrating. Skips CREATE SCHEMA
 * if the schema exists, so that the owner of the schemas can migrate without CREATE on the database.
 */
export class MigrationQueryRunner extends DatabaseQueryRunner {
  constructor(
    dataSource: DataSource,
    private readonly lock: DatabaseClient,
  ) {
    super(dataSource);
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
    return super.query(text, ...rest) as Promise<never>;
  }
}
