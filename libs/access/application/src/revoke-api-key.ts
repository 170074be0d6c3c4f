import type { ApiKey, ApiKeyRepository } from '@animal-store/access-domain';
import type { Clock } from '@animal-store/kernel';
import { findApiKeyId, apiKeyNotFound } from './find-api-key-id.js';

export class RevokeApiKey {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Revokes a key. Has no effect if it is already revoked.
   * @param reference the key's identifier, its visible prefix if only one key has it, or the whole key
   * @throws DomainError API_KEY_NOT_FOUND
   */
  async execute(reference: string): Promise<ApiKey> {
    const id = await findApiKeyId(this.keys, reference);
    const revoked = await this.keys.update(id, (key) => key.revoke(this.clock.now()));
    if (!revoked) throw apiKeyNotFound(reference);
    return revoked;
  }
}
