import { type ApiKeyRepository, type ApiKeySecret, INVALID_API_KEY, isApiKeySecret, stateOf } from '@animal-store/access-domain';
import { type Clock, DomainError, type Principal } from '@animal-store/kernel';

const RECORD_USE_EVERY_MS = 60_000;
/** Maximum age of an entry. Revocations and expiries must take effect within five seconds. */
const MAX_AGE_MS = 2_000;
const MAX_ENTRIES = 10_000;

interface Entry {
  /** When the query was sent, by a clock that cannot be set. */
  readonly sentAt: number;
  found: Principal | Promise<Principal>;
}

/**
 * Authenticates requests:
 * 1. An active key that was checked in the last two seconds is in the cache. Unknown keys and errors are not.
 * 2. `isApiKeySecret` checks the format and the checksum.
 * 3. `findBySecret` of the repository finds the key by its hash.
 * 4. `stateOf` decides whether it is active.
 */
export class AuthenticateApiKey {
  /** By secret. Oldest first; expired entries are removed before the next query. */
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly keys: Pick<ApiKeyRepository, 'findBySecret' | 'recordUse'>,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the principal of a key, without a promise if the key is cached. Concurrent calls for a key that is not share one query.
   * Rejects with the store's error if the store fails.
   * @throws DomainError INVALID_API_KEY, synchronously or as a rejection
   */
  execute(text: string): Principal | Promise<Principal> {
    const entry = this.entries.get(text);
    // The age limit also applies to running queries: an old one may have read the key before its revocation.
    if (entry && isFresh(entry)) return entry.found;
    if (!isApiKeySecret(text)) throw new DomainError(INVALID_API_KEY);
    return this.query(text);
  }

  private query(secret: ApiKeySecret): Promise<Principal> {
    this.entries.delete(secret);
    this.evict();
    const sentAt = performance.now();
    const query = this.check(secret);
    const entry: Entry = { sentAt, found: query };
    this.entries.set(secret, entry);
    query.then(
      (principal) => (entry.found = principal),
      () => this.entries.get(secret) === entry && this.entries.delete(secret),
    );
    return query;
  }

  private async check(secret: ApiKeySecret): Promise<Principal> {
    const key = await this.keys.findBySecret(secret);
    const now = this.clock.now();
    if (!key || stateOf(key, now) !== 'active') throw new DomainError(INVALID_API_KEY);
    // A last use in the future was recorded by a clock that has been set back.
    if (!key.lastUsedAt || Math.abs(now.getTime() - key.lastUsedAt.getTime()) >= RECORD_USE_EVERY_MS) {
      // In the background, and errors are ignored.
      this.keys.recordUse(key.id, now).catch(() => undefined);
    }
    const { id, client, scopes } = key;
    return { clientId: client.id, clientName: client.name, keyId: id, scopes, rateLimit: client.rateLimit ?? undefined };
  }

  private evict(): void {
    for (const [oldest, entry] of this.entries) {
      if (this.entries.size < MAX_ENTRIES && isFresh(entry)) return;
      this.entries.delete(oldest);
    }
  }
}

function isFresh({ sentAt }: Entry): boolean {
  return performance.now() - sentAt < MAX_AGE_MS;
}
