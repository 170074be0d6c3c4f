import { type ApiKey, type BeforeCommit, type ApiKeyRepository, type ApiKeySecret, NewApiKey } from '@animal-store/access-domain';
import type { Clock } from '@animal-store/kernel';

export interface CreateApiKeyInput {
  /** The client is created if it does not exist. */
  readonly clientName: string;
  readonly environment: string;
  readonly scopes: readonly string[];
  /** If undefined, the key does not expire. */
  readonly lifetimeMs?: number | undefined;
  /** The new limit of the client. If undefined, the limit is unchanged. */
  readonly rateLimit?: number | undefined;
  /** Creates a key only if the client has none, or only expired and revoked ones. */
  readonly ifNone?: boolean | undefined;
}

export interface CreatedApiKey {
  readonly key: ApiKey;
  /** Not stored: show it once. */
  readonly secret: ApiKeySecret;
}

type Deliver = BeforeCommit<CreatedApiKey>;

export class CreateApiKey {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * @param deliver shows or stores the secret, which is lost otherwise. If it throws, the key does not exist.
   * @throws DomainError INVALID_KEY_REQUEST
   */
  async execute(input: CreateApiKeyInput & { readonly ifNone?: false | undefined }, deliver?: Deliver): Promise<CreatedApiKey>;
  /** Resolves to undefined if `ifNone` is set and the client has a key that is neither expired nor revoked. */
  async execute(input: CreateApiKeyInput, deliver?: Deliver): Promise<CreatedApiKey | undefined>;
  async execute({ lifetimeMs, ifNone = false, ...input }: CreateApiKeyInput, deliver?: Deliver): Promise<CreatedApiKey | undefined> {
    const createdAt = this.clock.now();
    const expiresAt = lifetimeMs === undefined ? undefined : new Date(createdAt.getTime() + lifetimeMs);
    const issued = NewApiKey.issue({ ...input, createdAt, expiresAt });
    const beforeCommit = deliver && ((key: ApiKey) => deliver({ key, secret: issued.secret }));
    const key = ifNone ? await this.keys.addIfNone(issued, beforeCommit) : await this.keys.add(issued, beforeCommit);
    return key && { key, secret: issued.secret };
  }
}
