import type { ApiKey, ApiKeyId, ApiKeyRepository, ApiKeySecret, ClientId, ClientName, KeyHasher, Scope } from '@animal-store/access-domain';

/**
 * Maximum age of an entry. Revocations must take effect within five seconds. If the clock is set back, an entry lives up to twice as
 * long.
 */
const MAX_AGE_MS = 2_000;
const MAX_ENTRIES = 10_000;

/** The client, its key, and the scopes of the key. */
export interface Principal {
  readonly clientId: ClientId;
  readonly clientName: ClientName;
  readonly keyId: ApiKeyId;
  readonly scopes: readonly Scope[];
  /** The client's limit in requests per minute; undefined if the service's limit applies. */
  readonly rateLimit: number | undefined;
}

export interface CachedApiKey {
  readonly key: ApiKey;
  readonly principal: Principal;
  /** When this process last recorded the use of the key, or the time of last use in the store. */
  lastUseMs: number;
}

interface Entry {
  /** When the query was sent. */
  readonly sentAtMs: number;
  found: Found;
}

type Found = CachedApiKey | Promise<CachedApiKey | undefined>;

/**
 * Caches `findByHash` of the repository for a short time. Cache hits return without a promise. Concurrent misses for the same key share
 * one query. Unknown keys and errors are not cached.
 */
export class ApiKeyCache {
  /** By secret, so that only queries need a hash. Oldest first; expired entries are removed before the next query. */
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly keys: Pick<ApiKeyRepository, 'findByHash'>,
    private readonly hasher: KeyHasher,
    private readonly maxEntries: number = MAX_ENTRIES,
  ) {}

  /** Returns the cached key, or a query that is running; undefined if there is none. */
  get(text: string, nowMs: number): Found | undefined {
    const entry = this.entries.get(text);
    // The age limit also applies to running queries: an old one may have read the key before its revocation.
    return entry && isFresh(entry, nowMs) ? entry.found : undefined;
  }

  /** Queries the key and caches the result. */
  query(secret: ApiKeySecret, nowMs: number): Promise<CachedApiKey | undefined> {
    this.entries.delete(secret);
    this.evict(nowMs);
    const query = this.keys.findByHash(this.hasher.hash(secret)).then(
      (key) => {
        const cached = key && { key, principal: principalOf(key), lastUseMs: key.lastUsedAt?.getTime() ?? -Infinity };
        if (cached) entry.found = cached;
        else this.remove(secret, entry);
        return cached;
      },
      (error: unknown) => {
        this.remove(secret, entry);
        throw error;
      },
    );
    const entry: Entry = { sentAtMs: nowMs, found: query };
    this.entries.set(secret, entry);
    return query;
  }

  private remove(secret: ApiKeySecret, entry: Entry): void {
    if (this.entries.get(secret) === entry) this.entries.delete(secret);
  }

  private evict(nowMs: number): void {
    for (const [oldest, entry] of this.entries) {
      if (this.entries.size < this.maxEntries && isFresh(entry, nowMs)) return;
      this.entries.delete(oldest);
    }
  }
}

function isFresh({ sentAtMs }: Entry, nowMs: number): boolean {
  const ageMs = nowMs - sentAtMs;
  return ageMs >= 0 && ageMs < MAX_AGE_MS;
}

function principalOf({ id, client, scopes }: ApiKey): Principal {
  return { clientId: client.id, clientName: client.name, keyId: id, scopes, rateLimit: client.rateLimit };
}
