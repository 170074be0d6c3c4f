import { type ApiKeyRepository, INVALID_API_KEY, isApiKeySecret, type KeyHasher } from '@animal-store/access-domain';
import { type Clock, DomainError } from '@animal-store/kernel';
import { ApiKeyCache, type CachedApiKey, type Principal } from './api-key-cache.js';

export type { Principal };

const RECORD_USE_EVERY_MS = 60_000;

export class AuthenticateApiKey {
  private readonly cache: ApiKeyCache;

  constructor(
    private readonly keys: ApiKeyRepository,
    hasher: KeyHasher,
    private readonly clock: Clock,
  ) {
    this.cache = new ApiKeyCache(keys, hasher);
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
    if (now.getTime() - cached.lastUseMs < RECORD_USE_EVERY_MS) return;
    cached.lastUseMs = now.getTime();
    this.keys.recordUse(cached.key.id, now).catch(() => undefined);
  }
}
