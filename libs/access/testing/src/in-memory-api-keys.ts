import {
  ApiKey,
  type ApiKeyFilter,
  type ApiKeyId,
  type ApiKeyRepository,
  type ApiKeySecret,
  type AuditEntry,
  type AuditEvent,
  type AuditEventId,
  type AuditPage,
  type Client,
  clientChanged,
  keyCreated,
  keyRevoked,
  keyRotated,
  type KeyRotation,
  type NewApiKey,
  type Operator,
  UNKNOWN_OPERATOR,
} from '@animal-store/access-domain';

const MINUTE_MS = 60_000;

/** An in-memory adapter of the port, for specs of its callers. */
export class InMemoryApiKeys implements ApiKeyRepository {
  private readonly clients = new Map<string, Client>();
  private readonly keys = new Map<ApiKeyId, ApiKey>();
  private readonly idsBySecret = new Map<ApiKeySecret, ApiKeyId>();
  /** Newest first. */
  private readonly auditEvents: AuditEvent[] = [];

  constructor(private readonly operator: Operator = UNKNOWN_OPERATOR) {}

  async findBySecret(secret: ApiKeySecret): Promise<ApiKey | undefined> {
    const id = this.idsBySecret.get(secret);
    return id === undefined ? undefined : this.find(id);
  }

  async list({ clientName, prefix }: ApiKeyFilter = {}): Promise<readonly ApiKey[]> {
    return this.all().filter(
      (key) => (clientName === undefined || key.client.name === clientName) && (prefix === undefined || key.prefix === prefix),
    );
  }

  async add(added: NewApiKey): Promise<ApiKey> {
    const key = this.insert(added);
    this.audit([keyCreated(key)]);
    return key;
  }

  async addIfNone(key: NewApiKey): Promise<ApiKey | undefined> {
    const hasKey = this.all().some((other) => other.client.name === key.clientName && !other.hasEndedAt(key.createdAt));
    return hasKey ? undefined : this.add(key);
  }

  async update(id: ApiKeyId, change: (key: ApiKey) => ApiKey): Promise<ApiKey | undefined> {
    const key = this.find(id);
    if (!key) return undefined;
    const changed = change(key);
    this.keys.set(id, changed);
    if (!key.revokedAt && changed.revokedAt) this.audit([keyRevoked(changed)]);
    return changed;
  }

  async replace(id: ApiKeyId, change: (key: ApiKey) => KeyRotation<NewApiKey>): Promise<KeyRotation<ApiKey> | undefined> {
    const key = this.find(id);
    if (!key) return undefined;
    const { retired, successor } = change(key);
    const added = this.insert(successor);
    this.keys.set(id, retired);
    this.audit([keyRotated(retired, added)]);
    return { retired, successor: added };
  }

  async listClients(): Promise<readonly Client[]> {
    return Array.from(this.clients.values());
  }

  async updateClient(name: string, change: (client: Client) => Client): Promise<Client | undefined> {
    const before = this.clients.get(name);
    if (!before) return undefined;
    const after = change(before);
    this.clients.set(name, after);
    this.audit(clientChanged(before, after));
    return after;
  }

  async listAudit({ limit, after }: AuditPage): Promise<readonly AuditEvent[]> {
    return this.auditEvents.filter(({ id }) => after === undefined || id < after).slice(0, limit);
  }

  async recordUse(id: ApiKeyId, at: Date): Promise<void> {
    const key = this.keys.get(id);
    if (key && (!key.lastUsedAt || at.getTime() - key.lastUsedAt.getTime() >= MINUTE_MS)) {
      this.keys.set(id, ApiKey.rehydrate({ ...key, lastUsedAt: at }));
    }
  }

  private all(): ApiKey[] {
    return Array.from(this.keys.keys(), (id) => this.find(id) as ApiKey);
  }

  /** Returns the key with the current state of its client. */
  private find(id: ApiKeyId): ApiKey | undefined {
    const key = this.keys.get(id);
    return key && ApiKey.rehydrate({ ...key, client: this.clients.get(key.client.name) ?? key.client });
  }

  private insert(added: NewApiKey): ApiKey {
    const { secret, clientName, rateLimit } = added;
    if (this.idsBySecret.has(secret)) throw new Error('The secret already exists.');
    const before = this.clients.get(clientName) ?? ({ id: BigInt(this.clients.size + 1), name: clientName } as Client);
    const client = rateLimit === undefined ? before : { ...before, rateLimit };
    this.clients.set(clientName, client);
    this.audit(clientChanged(before, client));
    const key = ApiKey.rehydrate({ ...added, id: BigInt(this.keys.size + 1), client });
    this.keys.set(key.id, key);
    this.idsBySecret.set(secret, key.id);
    return key;
  }

  private audit(entries: readonly AuditEntry[]): void {
    for (const entry of entries) {
      const id = BigInt(this.auditEvents.length + 1) as AuditEventId;
      this.auditEvents.unshift({ ...entry, id, operator: this.operator, databaseRole: 'memory', occurredAt: new Date() });
    }
  }
}
