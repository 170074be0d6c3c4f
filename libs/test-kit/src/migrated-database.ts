import { createDataSource, migrateUp, type Persistence } from '@animal-store/database';
import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';

/** Creates a database with the schemas of the contexts, without rows. */
export async function createMigratedDatabase(persistence: readonly Persistence[]): Promise<TestDatabase> {
  const database = await createTestDatabase();
  const dataSource = createDataSource({ url: database.url, applicationName: 'spec', poolSize: 1, persistence });
  await dataSource.initialize();
  try {
    await migrateUp(dataSource);
  } finally {
    await dataSource.destroy();
  }
  return database;
}
