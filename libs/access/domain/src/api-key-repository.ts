import type { ApiKey, ApiKeyId, KeyRotation, NewApiKey } from './api-key.js';
import type { KeyHash } from './key-hasher.js';

export interface ApiKeyFilter {
  readonly clientName?: string | undefined;
  readonly prefix?: string | undefined;
}

/** Clients and their keys. A client is made with its first key. */
export abstract class ApiKeyRepository {
  /** The one that authentication waits for. */
  abstract findByHash(hash: KeyHash): Promise<ApiKey | undefined>;

  /** In ascending order of `id`. */
  abstract list(filter?: ApiKeyFilter): Promise<readonly ApiKey[]>;

  abstract add(key: NewApiKey): Promise<ApiKey>;

  /** Adds the key unless its client has one that is active when this one is created; of several at once one is added. */
  abstract addIfNone(key: NewApiKey): Promise<ApiKey | undefined>;

  /** Keeps what `change` makes of the key's life, while nobody else can change it; undefined when there is no such key. */
  abstract update(id: ApiKeyId, change: (key: ApiKey) => ApiKey): Promise<ApiKey | undefined>;

  /** As `update`, and adds the successor in the same transaction. */
  abstract replace(id: ApiKeyId, change: (key: ApiKey) => KeyRotation<NewApiKey>): Promise<KeyRotation<ApiKey> | undefined>;

  /** Writes the time of last use unless one less than a minute older is there, whichever process wrote it. */
  abstract recordUse(id: ApiKeyId, at: Date): Promise<void>;
}
