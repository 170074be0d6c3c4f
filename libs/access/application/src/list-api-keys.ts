import type { ApiKey, ApiKeyRepository, ApiKeyState } from '@animal-store/access-domain';
import type { Clock } from '@animal-store/kernel';

export interface ListedApiKey {
  readonly key: ApiKey;
  readonly state: ApiKeyState;
}

export interface ListApiKeysInput {
  readonly clientName?: string | undefined;
  /** Only active keys that expire within this time. */
  readonly expiresWithinMs?: number | undefined;
}

export class ListApiKeys {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  /** Returns keys in the order of their creation, of all clients by default. */
  async execute({ clientName, expiresWithinMs }: ListApiKeysInput = {}): Promise<readonly ListedApiKey[]> {
    const found = await this.keys.list({ clientName });
    const now = this.clock.now();
    const listed = found.map((key) => ({ key, state: key.stateAt(now) }));
    if (expiresWithinMs === undefined) return listed;
    const endMs = now.getTime() + expiresWithinMs;
    return listed.filter(({ key, state }) => state === 'active' && key.expiresAt !== undefined && key.expiresAt.getTime() <= endMs);
  }
}
