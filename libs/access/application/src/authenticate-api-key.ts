import {
  type ApiKeyId,
  type ApiKeyRepository,
  type ClientId,
  type ClientName,
  INVALID_API_KEY,
  isApiKeySecret,
  type KeyHasher,
  type Scope,
} from '@animal-store/access-domain';
import { type Clock, DomainError } from '@animal-store/kernel';
import { ApiKeyCache, type CachedApiKey } from './api-key-cache.js';

const RECORD_USE_EVERY_MS = 60_000;

/** Who is asking, and what the key allows. */
export interface Principal {
  readonly clientId: ClientId;
  readonly clientName: ClientName;
  readonly keyId: ApiKeyId;
  readonly scopes: readonly Scope[];
}

export class AuthenticateApiKey {
  private readonly cache: ApiKeyCache;

  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly hasher: KeyHasher,
    private readonly clock: Clock,
  ) {
    this.cache = new ApiKeyCache(keys, clock);
  }

  /**
   * Answers at once for a key that was asked for in the last seconds. Rejects with the store's own error when the store cannot
   * tell.
   * @throws DomainError INVALID_API_KEY, directly or by rejecting
   */
  execute(text: string): Principal | Promise<Principal> {
    if (!isApiKeySecret(text)) throw new DomainError(INVALID_API_KEY);
    const found = this.cache.find(this.hasher.hash(text));
    return found instanceof Promise ? found.then((cached) => this.admit(cached)) : this.admit(found);
  }

  private admit(cached: CachedApiKey | undefined): Principal {
    const now = this.clock.now();
    if (cached?.key.stateAt(now) !== 'active') throw new DomainError(INVALID_API_KEY);
    this.recordUse(cached, now);
    const { id, client, scopes } = cached.key;
    return { clientId: client.id, clientName: client.name, keyId: id, scopes };
  }

  /** Nobody waits for it, and losing it harms nobody. */
  private recordUse(cached: CachedApiKey, now: Date): void {
    if (now.getTime() - cached.lastUseMs < RECORD_USE_EVERY_MS) return;
    cached.lastUseMs = now.getTime();
    this.keys.recordUse(cached.key.id, now).catch(() => undefined);
  }
}
