import type { ApiKey, ApiKeyId, KeyRotation, NewApiKey } from './api-key.js';
import type { AuditEvent, AuditPage } from './audit.js';
import type { Client } from './client.js';
import type { ApiKeySecret } from './api-key-secret.js';

export interface ApiKeyFilter {
  readonly clientName?: string | undefined;
  readonly prefix?: string | undefined;
}

/**
 * Stores clients and their keys. A client is created with its first key. Every change except `recordUse` is written to the audit trail
 * in the same transaction. Calls that change nothing are not.
 */
export abstract class ApiKeyRepository {
  /** Returns the key with this secret, of which the store only has the hash. Used for authentication. */
  abstract findBySecret(secret: ApiKeySecret): Promise<ApiKey | undefined>;

  /** Returns the keys in ascending order of `id`. */
  abstract list(filter?: ApiKeyFilter): Promise<readonly ApiKey[]>;

  abstract add(key: NewApiKey): Promise<ApiKey>;

  /** Adds the key unless its client has one that is neither expired nor revoked. Of several concurrent calls, one adds a key. */
  abstract addIfNone(key: NewApiKey): Promise<ApiKey | undefined>;

  /** Stores the revocation if `change` revokes the key. The key is locked meanwhile. Returns undefined if it does not exist. */
  abstract update(id: ApiKeyId, change: (key: ApiKey) => ApiKey): Promise<ApiKey | undefined>;

  /** Like `update`, but also adds the successor in the same transaction. */
  abstract replace(id: ApiKeyId, change: (key: ApiKey) => KeyRotation<NewApiKey>): Promise<KeyRotation<ApiKey> | undefined>;

  /** Returns the clients in ascending order of `id`. */
  abstract listClients(): Promise<readonly Client[]>;
  /** Stores the result of `change`. The client is locked meanwhile. Returns undefined if it does not exist. */
  abstract updateClient(name: string, change: (client: Client) => Client): Promise<Client | undefined>;
  /** Returns the newest events first, ordered by time and then by `id`. */
  abstract listAudit(page: AuditPage): Promise<readonly AuditEvent[]>;
  /** Writes the time of last use if none is stored, or if the stored time is at least a minute before `at`. */
  abstract recordUse(id: ApiKeyId, at: Date): Promise<void>;
}
