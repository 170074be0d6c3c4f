import type { ApiKey, ApiKeyId, KeyRotation, NewApiKey } from './api-key.js';
import type { AuditEvent, AuditPage } from './audit.js';
import type { Client } from './client.js';
import type { KeyHash } from './key-hasher.js';

export interface ApiKeyFilter {
  readonly clientName?: string | undefined;
  readonly prefix?: string | undefined;
}

/**
 * Clients and their keys. A client is made with its first key. Every change but `recordUse` is in the audit trail, written in the same
 * transaction; what changes nothing is not.
 */
export abstract class ApiKeyRepository {
  /** The one that authentication waits for. */
  abstract findByHash(hash: KeyHash): Promise<ApiKey | undefined>;

  /** In ascending order of `id`. */
  abstract list(filter?: ApiKeyFilter): Promise<readonly ApiKey[]>;

  abstract add(key: NewApiKey): Promise<ApiKey>;

  /** Adds the key unless its client has one that has not ended when this one is created; of several at once one is added. */
  abstract addIfNone(key: NewApiKey): Promise<ApiKey | undefined>;

  /** Revokes the key if `change` does, while nobody else can change it; undefined when there is no such key. */
  abstract update(id: ApiKeyId, change: (key: ApiKey) => ApiKey): Promise<ApiKey | undefined>;

  /** As `update`, and adds the successor in the same transaction. */
  abstract replace(id: ApiKeyId, change: (key: ApiKey) => KeyRotation<NewApiKey>): Promise<KeyRotation<ApiKey> | undefined>;

  /** In ascending order of `id`. */
  abstract listClients(): Promise<readonly Client[]>;
  /** Keeps what `change` makes of the client, while nobody else can change it; undefined when no client has the name. */
  abstract updateClient(name: string, change: (client: Client) => Client): Promise<Client | undefined>;
  /** The newest events first, by time and then by `id`. */
  abstract listAudit(page: AuditPage): Promise<readonly AuditEvent[]>;
  /** Writes the time of last use unless one less than a minute older is there, whichever process wrote it. */
  abstract recordUse(id: ApiKeyId, at: Date): Promise<void>;
}
