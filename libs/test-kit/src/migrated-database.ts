import { createHash } from 'node:crypto';
import { Database, migrateUp, type Persistence } from '@animal-store/database';
import { copyTestDatabase, setOddSettings, type TestDatabase } from '@animal-store/local-postgres/testing';

/** Creates a database with the schemas of the contexts, without rows. */
export async function createMigratedDatabase(persistence: readonly Persistence[]): Promise<TestDatabase> {
  const database = await copyTestDatabase(`template_${hashOf(persistence)}`, async (url) => {
    const dataSource = new Database({ url, applicationName: 'spec', poolSize: 1, persistence });
    await dataSource.initialize();
    try {
      await migrateUp(dataSource);
    } finally {
      await dataSource.destroy();
    }
  });
  await setOddSettings(database.url);
  return database;
}

/** Distinguishes the templates of different contexts, and of different versions on a server that outlives the run. */
function hashOf(persistence: readonly Persistence[]): string {
  const hash = createHash('sha256');
  for (const { migrations } of persistence) for (const migration of migrations) hash.update(String(migration));
  return hash.digest('hex').slice(0, 16);
}
