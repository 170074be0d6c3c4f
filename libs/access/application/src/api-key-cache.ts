import type { ApiKey, ApiKeyId, ApiKeyRepository, ClientId, ClientName, KeyHash, Scope } from '@animal-store/access-domain';
import type { Clock } from '@animal-store/kernel';

/**
 * A revocation has to hold within five seconds. Two leave room for a clock that is set back while an entry is alive,
 * which at worst doubles them.
 */
const MAX_AGE_MS = 2_000;
const MAX_ENTRIES = 10_000;

/** Who is asking, and what the key allows. */
export interface Principal {
  readonly clientId: ClientId;
  readonly clientName: ClientName;
  readonly keyId: ApiKeyId;
  readonly scopes: readonly Scope[];
}

export interface CachedApiKey {
  readonly key: ApiKey;
  readonly principal: Principal;
  /** When this process last asked for the use to be recorded, or the store said it was. */
  lastUseMs: number;
}

interface Entry {
  /** When the store was asked, which is before it answered. */
  readonly askedAtMs: number;
  found: CachedApiKey | Promise<CachedApiKey | undefined>;
}

/**
 * `findByHash` of the repository with a short memory: what is known is answered without a promise, and those who miss the same
 * key at the same time share one query. Unknown keys and failures are not remembered.
 */
export class ApiKeyCache {
  /** Oldest first. */
  private readonly entries = new Map<KeyHash, Entry>();

  constructor(
    private readonly keys: Pick<ApiKeyRepository, 'findByHash'>,
    private readonly clock: Clock,
    private readonly maxEntries: number = MAX_ENTRIES,
  ) {}

  find(hash: KeyHash, nowMs: number = this.clock.now().getTime()): CachedApiKey | Promise<CachedApiKey | undefined> {
    const known = this.entries.get(hash);
    if (known) {
      const ageMs = nowMs - known.askedAtMs;
      // Holds for a query without an answer too: one that old may have read the key before it was revoked.
      if (ageMs >= 0 && ageMs < MAX_AGE_MS) return known.found;
    }
    return this.ask(hash, nowMs);
  }

  private ask(hash: KeyHash, askedAtMs: number): Promise<CachedApiKey | undefined> {
    this.entries.delete(hash);
    this.makeRoom();
    const answer = this.keys.findByHash(hash).then(
      (key) => {
        const cached = key && { key, principal: principalOf(key), lastUseMs: key.lastUsedAt?.getTime() ?? -Infinity };
        if (cached) entry.found = cached;
        else this.forget(hash, entry);
        return cached;
      },
      (error: unknown) => {
        this.forget(hash, entry);
        throw error;
      },
    );
    const entry: Entry = { askedAtMs, found: answer };
    this.entries.set(hash, entry);
    return answer;
  }

  private forget(hash: KeyHash, entry: Entry): void {
    if (this.entries.get(hash) === entry) this.entries.delete(hash);
  }

  private makeRoom(): void {
    if (this.entries.size < this.maxEntries) return;
    for (const oldest of this.entries.keys()) {
      this.entries.delete(oldest);
      return;
    }
  }
}

function principalOf({ id, client, scopes }: ApiKey): Principal {
  return { clientId: client.id, clientName: client.name, keyId: id, scopes };
}
