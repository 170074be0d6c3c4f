import { contexts } from '@animal-store/api/contexts';
import { Database, grantStatements, migrateUp } from '@animal-store/database';

/** Applies pending migrations as the owner, and grants the role of the service what it needs. */
export async function prepareDatabase(ownerUrl: string, serviceRole: string): Promise<void> {
  const persistence = contexts.map((context) => context.persistence);
  const dataSource = new Database({ url: ownerUrl, applicationName: 'animal-store start', poolSize: 1, persistence });
  await dataSource.initialize();
  try {
    await migrateUp(dataSource);
    await dataSource.query(grantStatements(persistence, 'service', serviceRole).join('; '));
  } finally {
    await dataSource.destroy();
  }
}
