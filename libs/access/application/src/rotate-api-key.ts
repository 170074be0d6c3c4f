import type { ApiKey, ApiKeyRepository, ApiKeySecret, BeforeCommit, KeyRotation } from '@animal-store/access-domain';
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
   * @param deliver shows or stores the secret, which is lost otherwise. If it throws, nothing is changed.
   * @throws DomainError API_KEY_NOT_FOUND, API_KEY_NOT_ACTIVE, INVALID_KEY_REQUEST
   */
  async execute(reference: string, overlapMs: number = DEFAULT_OVERLAP_MS, deliver?: BeforeCommit<RotatedApiKey>): Promise<RotatedApiKey> {
    const id = await findApiKeyId(this.keys, reference);
    let secret: ApiKeySecret | undefined;
    const toResult = ({ successor, retired }: KeyRotation<ApiKey>) => ({ key: successor, secret: secret as ApiKeySecret, retired });
    const rotated = await this.keys.replace(
      id,
      (key) => {
        const rotation = key.rotate(this.clock.now(), overlapMs);
        secret = rotation.successor.secret;
        return rotation;
      },
      deliver && ((rotation) => deliver(toResult(rotation))),
    );
    if (!rotated) throw apiKeyNotFound(reference);
    return toResult(rotated);
  }
}
