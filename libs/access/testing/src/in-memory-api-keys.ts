import {
  ApiKey,
  type ApiKeyFilter,
  type ApiKeyId,
  type ApiKeyRepository,
  type KeyHash,
  type KeyRotation,
  type NewApiKey,
} from '@animal-store/access-domain';

const MINUTE_MS = 60_000;

/** The port over maps, for specs of what stands above it. */
export class InMemoryApiKeys implements ApiKeyRepository {
  private readonly clientIds = new Map<string, bigint>();
  private readonly keys = new Map<ApiKeyId, ApiKey>();
  private readonly idsByHash = new Map<KeyHash, ApiKeyId>();

  async findByHash(hash: KeyHash): Promise<ApiKey | undefined> {
    const id = this.idsByHash.get(hash);
    return id === undefined ? undefined : this.keys.get(id);
  }

  async list({ clientName, prefix }: ApiKeyFilter = {}): Promise<readonly ApiKey[]> {
    return Array.from(this.keys.values()).filter(
      (key) => (clientName === undefined || key.client.name === clientName) && (prefix === undefined || key.prefix === prefix),
    );
  }

  async add(added: NewApiKey): Promise<ApiKey> {
    if (this.idsByHash.has(added.hash)) throw new Error('The hash is there already.');
    const clientId = this.clientIds.get(added.clientName) ?? BigInt(this.clientIds.size + 1);
    this.clientIds.set(added.clientName, clientId);
    const key = ApiKey.rehydrate({ ...added, id: BigInt(this.keys.size + 1), client: { id: clientId, name: added.clientName } });
    this.keys.set(key.id, key);
    this.idsByHash.set(added.hash, key.id);
    return key;
  }

  async addIfNone(key: NewApiKey): Promise<ApiKey | undefined> {
    const isThere = Array.from(this.keys.values()).some(
      (other) => other.client.name === key.clientName && other.stateAt(key.createdAt) === 'active',
    );
    return isThere ? undefined : this.add(key);
  }

  async update(id: ApiKeyId, change: (key: ApiKey) => ApiKey): Promise<ApiKey | undefined> {
    const key = this.keys.get(id);
    if (!key) return undefined;
    const changed = change(key);
    this.keys.set(id, changed);
    return changed;
  }

  async replace(id: ApiKeyId, change: (key: ApiKey) => KeyRotation<NewApiKey>): Promise<KeyRotation<ApiKey> | undefined> {
    const key = this.keys.get(id);
    if (!key) return undefined;
    const { retired, successor } = change(key);
    const added = await this.add(successor);
    this.keys.set(id, retired);
    return { retired, successor: added };
  }

  async recordUse(id: ApiKeyId, at: Date): Promise<void> {
    const key = this.keys.get(id);
    if (key && (!key.lastUsedAt || at.getTime() - key.lastUsedAt.getTime() >= MINUTE_MS)) {
      this.keys.set(id, ApiKey.rehydrate({ ...key, lastUsedAt: at }));
    }
  }
}
