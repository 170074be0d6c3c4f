import type { ApiKey, ApiKeyRepository, ApiKeyState } from '@animal-store/access-domain';
import type { Clock } from '@animal-store/kernel';

export interface ListedApiKey {
  readonly key: ApiKey;
  readonly state: ApiKeyState;
}

export class ListApiKeys {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  /** In the order they were made; of all clients unless one is named. */
  async execute({ clientName }: { readonly clientName?: string | undefined } = {}): Promise<readonly ListedApiKey[]> {
    const found = await this.keys.list({ clientName });
    const now = this.clock.now();
    return found.map((key) => ({ key, state: key.stateAt(now) }));
  }
}
