import type { Persistence } from '@animal-store/database';
import { ApiKeyEntity } from './api-key.entity.js';
import { ClientEntity } from './client.entity.js';
import { CreateClientsAndApiKeys1763683140000 } from './migrations/1763683140000-create-clients-and-api-keys.js';

export const accessPersistence: Persistence = {
  schema: 'access',
  entities: [ClientEntity, ApiKeyEntity],
  migrations: [CreateClientsAndApiKeys1763683140000],
};
