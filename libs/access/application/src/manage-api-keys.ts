import {
  type ApiKey,
  API_KEY_NOT_FOUND,
  type ApiKeyRepository,
  type ApiKeyState,
  type AuditEvent,
  type IssuedApiKey,
  issueApiKey,
  type NewApiKeyInput,
  normalizeName,
  rotateApiKey,
  type RotatedApiKey,
  stateOf,
} from '@animal-store/access-domain';
import { type Clock, DomainError } from '@animal-store/kernel';

const DEFAULT_OVERLAP_MS = 24 * 60 * 60 * 1000;

/** The client is created if it does not exist. */
export interface CreateApiKeyInput extends Omit<NewApiKeyInput, 'createdAt' | 'expiresAt'> {
  /** If undefined, the key does not expire. */
  readonly lifetimeMs?: number | undefined;
}

export interface ListedApiKey {
  readonly key: ApiKey;
  readonly state: ApiKeyState;
}

/** @throws DomainError INVALID_KEY_REQUEST, API_KEY_NOT_FOUND, API_KEY_NOT_ACTIVE */
export class ManageApiKeys {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  async create({ lifetimeMs, ...input }: CreateApiKeyInput): Promise<IssuedApiKey> {
    const createdAt = this.clock.now();
    const expiresAt = lifetimeMs === undefined ? null : new Date(createdAt.getTime() + lifetimeMs);
    const issued = issueApiKey({ ...input, createdAt, expiresAt });
    return { key: await this.keys.add(issued), secret: issued.secret };
  }

  /** Returns keys in the order of their creation, of all clients by default. */
  async list(clientName?: string): Promise<readonly ListedApiKey[]> {
    const found = await this.keys.list(clientName === undefined ? undefined : normalizeName(clientName));
    const now = this.clock.now();
    return found.map((key) => ({ key, state: stateOf(key, now) }));
  }

  /** Returns the new key, and the old one with its new expiry. */
  async rotate(id: bigint, overlapMs: number = DEFAULT_OVERLAP_MS): Promise<RotatedApiKey> {
    const rotated = await this.keys.rotate(id, (key) => rotateApiKey(key, this.clock.now(), overlapMs));
    if (!rotated) throw notFound(id);
    return rotated;
  }

  async revoke(id: bigint): Promise<ApiKey> {
    const revoked = await this.keys.revoke(id, this.clock.now());
    if (!revoked) throw notFound(id);
    return revoked;
  }

  listAudit(limit = 50): Promise<readonly AuditEvent[]> {
    return this.keys.listAudit(limit);
  }
}

function notFound(id: bigint): DomainError {
  return new DomainError(API_KEY_NOT_FOUND, `No API key has the id ${String(id)}.`);
}
