import { AuthenticateApiKey, ManageApiKeys, ManageClients } from '@animal-store/access-application';
import { Database, type SecretUrl } from '@animal-store/database';
import { type Clock, SystemClock } from '@animal-store/kernel';
import type { DataSource } from 'typeorm';
import { accessPersistence } from './access-persistence.js';
import { TypeOrmApiKeyRepository } from './typeorm-api-key-repository.js';

export type AccessUseCases = ReturnType<typeof createAccessUseCases>;

/** Creates the use cases on a DataSource with `accessPersistence`, which may connect later. The operator is for the audit trail. */
export function createAccessUseCases(dataSource: DataSource, clock: Clock = new SystemClock(), operator?: string) {
  const keys = new TypeOrmApiKeyRepository(dataSource, operator);
  return {
    manageApiKeys: new ManageApiKeys(keys, clock),
    manageClients: new ManageClients(keys, clock),
    authenticateApiKey: new AuthenticateApiKey(keys, clock),
  };
}

/** Opens the use cases with a separate connection pool, for tools. The schema must exist. */
export async function connectAccessUseCases(url: SecretUrl): Promise<AccessUseCases & { close(): Promise<void> }> {
  const dataSource = new Database({ url, applicationName: 'animal-store access', poolSize: 2, persistence: [accessPersistence] });
  await dataSource.initialize();
  return { ...createAccessUseCases(dataSource), close: () => dataSource.destroy() };
}
