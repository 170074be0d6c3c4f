import { Database, migrateUp, type Persistence } from '@animal-store/database';
import type { Logger } from 'pino';
import type { Config } from './config.js';

/** Applies pending migrations on a connection of its own, which it closes, also after a failure. */
export async function migrate(config: Config, persistence: readonly Persistence[], logger: Logger): Promise<void> {
  const database = new Database({
    url: config.migrationDatabaseUrl,
    applicationName: 'animal-store-migrations',
    poolSize: 1,
    connectTimeoutMs: config.databaseConnectTimeoutMs,
    citus: config.citus,
    persistence,
  });
  await database.connect();
  try {
    const applied = await migrateUp(database, {
      timeoutMs: config.migrationWaitSeconds * 1000,
      onWaiting: () => logger.warn('waiting for another process that is migrating the database'),
      onDistributed: (table) => {
        if (table === undefined) logger.warn('CITUS is on, but the database lacks the extension citus: no table is distributed');
        else logger.info({ table }, 'distributed a table');
      },
      onProgress: (line) => logger.warn(line),
    });
    if (applied.length > 0) logger.info({ applied }, 'migrated');
  } finally {
    await database.destroy();
  }
}
