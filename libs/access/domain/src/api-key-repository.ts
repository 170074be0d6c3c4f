import type { ApiKey, KeyRotation, NewApiKey, RotatedApiKey } from './api-key.js';
import type { ApiKeySecret } from './api-key-secret.js';
import type { AuditEvent } from './audit.js';
import type { Client, ClientChange } from './client.js';

/**
 * Stores clients and their keys. Every change except `recordUse` writes an audit event in the same transaction. Methods return undefined
 * if the key or the client does not exist.
 */
export abstract class ApiKeyRepository {
  /** Returns the key with this secret, of which the store only has the hash. */
  abstract findBySecret(secret: ApiKeySecret): Promise<ApiKey | undefined>;
  /** Stores the time of last use, unless the stored time is less than a minute away. */
  abstract recordUse(id: bigint, at: Date): Promise<void>;

  /** Returns keys in the order of their creation. */
  abstract list(clientName?: string): Promise<readonly ApiKey[]>;
  /** Adds the key and, if it does not exist, its client. */
  abstract add(key: NewApiKey): Promise<ApiKey>;
  /** Has no effect if the key is already revoked. */
  abstract revoke(id: bigint, now: Date): Promise<ApiKey | undefined>;
  /** Stores the rotation. The key is locked while `rotate` decides. */
  abstract rotate(id: bigint, rotate: (key: ApiKey) => KeyRotation): Promise<RotatedApiKey | undefined>;

  /** Returns clients in the order of their creation. */
  abstract listClients(): Promise<readonly Client[]>;
  /** Stores the change, if any. The client is locked while `change` decides. */
  abstract changeClient(name: string, change: (client: Client) => ClientChange | undefined): Promise<Client | undefined>;

  /** Returns the newest events first. */
  abstract listAudit(limit: number): Promise<readonly AuditEvent[]>;
}
