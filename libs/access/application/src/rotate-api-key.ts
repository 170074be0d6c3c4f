import { type ApiKey, type ApiKeyRepository, type ApiKeySecret } from '@animal-store/access-domain';
import type { Clock } from '@animal-store/kernel';
import type { CreatedApiKey } from './create-api-key.js';
import { findApiKeyId, apiKeyNotFound } from './find-api-key-id.js';

export const DEFAULT_OVERLAP_MS = 24 * 60 * 60 * 1000;

export interface RotatedApiKey extends CreatedApiKey {
  /** The old key with its new expiry. */
  readonly retired: ApiKey;
}

export class RotateApiKey {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * @param reference the key's identifier, its visible prefix if only one key has it, or the whole key
   * @throws DomainError API_KEY_NOT_FOUND, API_KEY_NOT_ACTIVE, INVALID_KEY_REQUEST
   */
  async execute(reference: string, overlapMs: number = DEFAULT_OVERLAP_MS): Promise<RotatedApiKey> {
    const id = await findApiKeyId(this.keys, reference);
    let secret: ApiKeySecret | undefined;
    const rotated = await this.keys.replace(id, (key) => {
      const rotation = key.rotate(this.clock.now(), overlapMs);
      secret = rotation.successor.secret;
      return rotation;
    });
    if (!rotated || !secret) throw apiKeyNotFound(reference);
    return { key: rotated.successor, secret, retired: rotated.retired };
  }
}
