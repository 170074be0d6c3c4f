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
  type BeforeCommit,
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

interface State {
  readonly clients: Map<string, Client>;
  readonly keys: Map<ApiKeyId, ApiKey>;
  readonly idsBySecret: Map<ApiKeySecret, ApiKeyId>;
  /** Newest first. */
  readonly auditEvents: AuditEvent[];
}

/** An in-memory adapter of the port, for specs of its callers. */
export class InMemoryApiKeys implements ApiKeyRepository {
  private state: State = { clients: new Map(), keys: new Map(), idsBySecret: new Map(), auditEvents: [] };
  private lastChange: Promise<unknown> = Promise.resolve();

  constructor(private readonly operator: Operator = UNKNOWN_OPERATOR) {}

  async findBySecret(secret: ApiKeySecret): Promise<ApiKey | undefined> {
    const id = this.state.idsBySecret.get(secret);
    return id === undefined ? undefined : this.find(id);
  }

  async list({ clientName, prefix }: ApiKeyFilter = {}): Promise<readonly ApiKey[]> {
    return this.all().filter(
      (key) => (clientName === undefined || key.client.name === clientName) && (prefix === undefined || key.prefix === prefix),
    );
  }

  add(added: NewApiKey, beforeCommit?: BeforeCommit<ApiKey>): Promise<ApiKey> {
    return this.transaction(() => this.create(added, beforeCommit));
  }

  addIfNone(key: NewApiKey, beforeCommit?: BeforeCommit<ApiKey>): Promise<ApiKey | undefined> {
    return this.transaction(async () => {
      const hasKey = this.all().some((other) => other.client.name === key.clientName && !other.hasEndedAt(key.createdAt));
      return hasKey ? undefined : this.create(key, beforeCommit);
    });
  }

  update(id: ApiKeyId, change: (key: ApiKey) => ApiKey): Promise<ApiKey | undefined> {
    return this.transaction(() => {
      const key = this.find(id);
      if (!key) return undefined;
      const changed = change(key);
      this.state.keys.set(id, changed);
      if (!key.revokedAt && changed.revokedAt) this.audit([keyRevoked(changed)]);
      return changed;
    });
  }

  replace(
    id: ApiKeyId,
    change: (key: ApiKey) => KeyRotation<NewApiKey>,
    beforeCommit?: BeforeCommit<KeyRotation<ApiKey>>,
  ): Promise<KeyRotation<ApiKey> | undefined> {
    return this.transaction(async () => {
      const key = this.find(id);
      if (!key) return undefined;
      const { retired, successor } = change(key);
      const rotated = { retired, successor: this.insert(successor) };
      this.state.keys.set(id, retired);
      this.audit([keyRotated(retired, rotated.successor)]);
      await beforeCommit?.(rotated);
      return rotated;
    });
  }

  async listClients(): Promise<readonly Client[]> {
    return Array.from(this.state.clients.values());
  }

  updateClient(name: string, change: (client: Client) => Client): Promise<Client | undefined> {
    return this.transaction(() => {
      const before = this.state.clients.get(name);
      if (!before) return undefined;
      const after = change(before);
      this.state.clients.set(name, after);
      this.audit(clientChanged(before, after));
      return after;
    });
  }

  async listAudit({ limit, after }: AuditPage): Promise<readonly AuditEvent[]> {
    return this.state.auditEvents.filter(({ id }) => after === undefined || id < after).slice(0, limit);
  }

  async recordUse(id: ApiKeyId, at: Date): Promise<void> {
    const key = this.state.keys.get(id);
    if (key && (!key.lastUsedAt || Math.abs(at.getTime() - key.lastUsedAt.getTime()) >= MINUTE_MS)) {
      this.state.keys.set(id, ApiKey.rehydrate({ ...key, lastUsedAt: at }));
    }
  }

  /** Runs changes one after the other. If `work` throws, nothing is changed. */
  private transaction<T>(work: () => T | Promise<T>): Promise<T> {
    const change = this.lastChange.then(async () => {
      const { clients, keys, idsBySecret, auditEvents } = this.state;
      const before = { clients: new Map(clients), keys: new Map(keys), idsBySecret: new Map(idsBySecret), auditEvents: [...auditEvents] };
      try {
        return await work();
      } catch (error) {
        this.state = before;
        throw error;
      }
    });
    this.lastChange = change.catch(() => undefined);
    return change;
  }

  private async create(added: NewApiKey, beforeCommit?: BeforeCommit<ApiKey>): Promise<ApiKey> {
    const key = this.insert(added);
    this.audit([keyCreated(key)]);
    await beforeCommit?.(key);
    return key;
  }

  private all(): ApiKey[] {
    return Array.from(this.state.keys.keys(), (id) => this.find(id) as ApiKey);
  }

  /** Returns the key with the current state of its client. */
  private find(id: ApiKeyId): ApiKey | undefined {
    const key = this.state.keys.get(id);
    return key && ApiKey.rehydrate({ ...key, client: this.state.clients.get(key.client.name) ?? key.client });
  }

  private insert(added: NewApiKey): ApiKey {
    const { secret, clientName, rateLimit } = added;
    if (this.state.idsBySecret.has(secret)) throw new Error('The secret already exists.');
    const before = this.state.clients.get(clientName) ?? ({ id: BigInt(this.state.clients.size + 1), name: clientName } as Client);
    const client = rateLimit === undefined ? before : { ...before, rateLimit };
    this.state.clients.set(clientName, client);
    this.audit(clientChanged(before, client));
    const key = ApiKey.rehydrate({ ...added, id: BigInt(this.state.keys.size + 1), client });
    this.state.keys.set(key.id, key);
    this.state.idsBySecret.set(secret, key.id);
    return key;
  }

  private audit(entries: readonly AuditEntry[]): void {
    for (const entry of entries) {
      const id = BigInt(this.state.auditEvents.length + 1) as AuditEventId;
      this.state.auditEvents.unshift({ ...entry, id, operator: this.operator, databaseRole: 'memory', occurredAt: new Date() });
    }
  }
}
