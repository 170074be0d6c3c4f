import { type ApiKey, type ApiKeyRepository, type ApiKeySecret, INVALID_API_KEY, isApiKeySecret } from '@animal-store/access-domain';
import { type Clock, DomainError, type Principal } from '@animal-store/kernel';

const RECORD_USE_EVERY_MS = 60_000;
/** Maximum age of an entry, by each clock. Revocations must take effect within five seconds. */
const MAX_AGE_MS = 2_000;
const MAX_ENTRIES = 10_000;

export class AuthenticateApiKey {
  private readonly cache: ApiKeyCache;

  constructor(
    private readonly keys: Pick<ApiKeyRepository, 'findBySecret' | 'recordUse'>,
    private readonly clock: Clock,
  ) {
    this.cache = new ApiKeyCache(keys);
  }

  /**
   * Returns the principal of a key, without a promise if the key is cached. Rejects with the store's error if the store fails.
   * @throws DomainError INVALID_API_KEY, synchronously or as a rejection
   */
  execute(text: string): Principal | Promise<Principal> {
    const now = this.clock.now();
    const found = this.cache.get(text, now.getTime()) ?? this.query(text, now);
    return found instanceof Promise ? found.then((cached) => this.verify(cached, this.clock.now())) : this.verify(found, now);
  }

  private query(text: string, now: Date): Promise<CachedApiKey | undefined> {
    if (!isApiKeySecret(text)) throw new DomainError(INVALID_API_KEY);
    return this.cache.query(text, now.getTime());
  }

  private verify(cached: CachedApiKey | undefined, now: Date): Principal {
    if (cached?.key.stateAt(now) !== 'active') throw new DomainError(INVALID_API_KEY);
    this.recordUse(cached, now);
    return cached.principal;
  }

  /** Records the use in the background. Errors are ignored. */
  private recordUse(cached: CachedApiKey, now: Date): void {
    // A last use in the future was recorded by a clock that has been set back.
    if (Math.abs(now.getTime() - cached.lastUseMs) < RECORD_USE_EVERY_MS) return;
    cached.lastUseMs = now.getTime();
    this.keys.recordUse(cached.key.id, now).catch(() => undefined);
  }
}

interface CachedApiKey {
  readonly key: ApiKey;
  readonly principal: Principal;
  /** When this process last recorded the use of the key, or the time of last use in the store. */
  lastUseMs: number;
}

interface Entry {
  /** When the query was sent, by the wall clock. */
  readonly sentAtMs: number;
  /** The same by a clock that cannot be set: otherwise, one that is set back repeatedly would keep the entry. */
  readonly sentAt: number;
  found: Found;
}

type Found = CachedApiKey | Promise<CachedApiKey | undefined>;

/**
 * Caches `findBySecret` of the repository for a short time. Cache hits return without a promise. Concurrent misses for the same key share
 * one query. Unknown keys and errors are not cached.
 */
export class ApiKeyCache {
  /** By secret. Oldest first; expired entries are removed before the next query. */
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly keys: Pick<ApiKeyRepository, 'findBySecret'>,
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
    const query = this.keys.findBySecret(secret).then(
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
    const entry: Entry = { sentAtMs: nowMs, sentAt: performance.now(), found: query };
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

function isFresh({ sentAtMs, sentAt }: Entry, nowMs: number): boolean {
  const ageMs = nowMs - sentAtMs;
  return ageMs >= 0 && ageMs < MAX_AGE_MS && performance.now() - sentAt < MAX_AGE_MS;
}

function principalOf({ id, client, scopes }: ApiKey): Principal {
  return { clientId: client.id, clientName: client.name, keyId: id, scopes, rateLimit: client.rateLimit };
}
