import type {
  ApiKey,
  ApiKeyId,
  ApiKeyRepository,
  ApiKeySecret,
  ClientId,
  ClientName,
  KeyHash,
  KeyHasher,
  Scope,
} from '@animal-store/access-domain';

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
  /** Of the client, in requests per minute; undefined for the limit of the service. */
  readonly rateLimit: number | undefined;
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
  found: Found;
}

type Found = CachedApiKey | Promise<CachedApiKey | undefined>;

/**
 * `findByHash` of the repository with a short memory: what is known is answered without a promise, and those who miss the same
 * key at the same time share one query. Unknown keys and failures are not remembered.
 */
export class ApiKeyCache {
  /** Oldest first. By the secret, so that only a query has to hash it; one that is too old goes with the next query. */
  private readonly entries = new Map<string, Entry>();
  /** Hashes of keys that the store has had. */
  private readonly known = new Set<KeyHash>();

  constructor(
    private readonly keys: Pick<ApiKeyRepository, 'findByHash'>,
    private readonly hasher: KeyHasher,
    private readonly maxEntries: number = MAX_ENTRIES,
  ) {}

  /** Undefined where the store has to be asked. */
  recall(text: string, nowMs: number): Found | undefined {
    const known = this.entries.get(text);
    // Holds for a query without an answer too: one that old may have read the key before it was revoked.
    return known && isFresh(known, nowMs) ? known.found : undefined;
  }

  /** Whether the store has had the key before. */
  isKnown(secret: ApiKeySecret): boolean {
    return this.known.has(this.hasher.hash(secret));
  }

  ask(secret: ApiKeySecret, nowMs: number): Promise<CachedApiKey | undefined> {
    this.entries.delete(secret);
    this.makeRoom(nowMs);
    const hash = this.hasher.hash(secret);
    const answer = this.keys.findByHash(hash).then(
      (key) => {
        const cached = key && { key, principal: principalOf(key), lastUseMs: key.lastUsedAt?.getTime() ?? -Infinity };
        if (cached) {
          entry.found = cached;
          this.remember(hash);
        } else {
          this.forget(secret, entry);
        }
        return cached;
      },
      (error: unknown) => {
        this.forget(secret, entry);
        throw error;
      },
    );
    const entry: Entry = { askedAtMs: nowMs, found: answer };
    this.entries.set(secret, entry);
    return answer;
  }

  private forget(secret: ApiKeySecret, entry: Entry): void {
    if (this.entries.get(secret) === entry) this.entries.delete(secret);
  }

  private remember(hash: KeyHash): void {
    if (this.known.size >= this.maxEntries) this.known.clear();
    this.known.add(hash);
  }

  private makeRoom(nowMs: number): void {
    for (const [oldest, entry] of this.entries) {
      if (this.entries.size < this.maxEntries && isFresh(entry, nowMs)) return;
      this.entries.delete(oldest);
    }
  }
}

function isFresh({ askedAtMs }: Entry, nowMs: number): boolean {
  const ageMs = nowMs - askedAtMs;
  return ageMs >= 0 && ageMs < MAX_AGE_MS;
}

function principalOf({ id, client, scopes }: ApiKey): Principal {
  return { clientId: client.id, clientName: client.name, keyId: id, scopes, rateLimit: client.rateLimit };
}
