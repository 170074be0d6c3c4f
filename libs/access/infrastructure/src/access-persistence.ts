import type { Persistence } from '@animal-store/database';
import { ApiKeyEntity } from './api-key.entity.js';
import { AuditEventEntity } from './audit-event.entity.js';
import { ClientEntity } from './client.entity.js';
import { CreateClientsAndApiKeys1763683140000 } from './migrations/1763683140000-create-clients-and-api-keys.js';
import { AddClientLimitsAndAuditEvents1763683500000 } from './migrations/1763683500000-add-client-limits-and-audit-events.js';

export const accessPersistence: Persistence = {
  schema: 'access',
  entities: [ClientEntity, ApiKeyEntity, AuditEventEntity],
  migrations: [CreateClientsAndApiKeys1763683140000, AddClientLimitsAndAuditEvents1763683500000],
};
