import type { Persistence } from '@animal-store/database';
import { ApiKeyEntity } from './api-key.entity.js';
import { AuditEventEntity } from './audit-event.entity.js';
import { ClientEntity } from './client.entity.js';
import { CreateClientsAndApiKeys1763683140000 } from './migrations/1763683140000-create-clients-and-api-keys.js';

export const accessPersistence: Persistence = {
  schema: 'access',
  // Names and hashes are unique across all rows, and keys reference clients.
  sharded: false,
  entities: [ClientEntity, ApiKeyEntity, AuditEventEntity],
  migrations: [CreateClientsAndApiKeys1763683140000],
  privileges: {
    service: ['SELECT ON access.clients', 'SELECT, UPDATE (last_used_at) ON access.api_keys'],
    keys: [
      'SELECT, INSERT, UPDATE (rate_limit, disabled_at) ON access.clients',
      'SELECT, INSERT, UPDATE (expires_at, revoked_at) ON access.api_keys',
      // No UPDATE or DELETE, and no INSERT of columns that the database sets.
      // The exception is `id`, which is GENERATED ALWAYS: TypeORM inserts DEFAULT into it.
      'SELECT, INSERT (id, operator, action, client_id, client_name, key_id, key_prefix, details) ON access.audit_events',
      'EXECUTE ON FUNCTION access.are_scopes(text[])',
    ],
  },
};
