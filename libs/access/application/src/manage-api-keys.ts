import {
  type ApiKey,
  API_KEY_NOT_FOUND,
  type ApiKeyId,
  type ApiKeyRepository,
  type ApiKeySecret,
  type ApiKeyState,
  type AuditEvent,
  type AuditEventId,
  isApiKeySecret,
  NewApiKey,
  type NewApiKeyInput,
  normalizeName,
  redactKeys,
} from '@animal-store/access-domain';
import { type Clock, DomainError, parseInt64 } from '@animal-store/kernel';

export const DEFAULT_OVERLAP_MS = 24 * 60 * 60 * 1000;
export const DEFAULT_AUDIT_LIMIT = 50;
export const MAX_AUDIT_LIMIT = 1_000;

/** The client is created if it does not exist. */
export interface CreateApiKeyInput extends Omit<NewApiKeyInput, 'createdAt' | 'expiresAt'> {
  /** If undefined, the key does not expire. */
  readonly lifetimeMs?: number | undefined;
  /** Creates a key only if the client has none, or only expired and revoked ones. */
  readonly ifNone?: boolean | undefined;
}

export interface CreatedApiKey {
  readonly key: ApiKey;
  /** Not stored: show it once. */
  readonly secret: ApiKeySecret;
}

export interface RotatedApiKey extends CreatedApiKey {
  /** The old key with its new expiry. */
  readonly retired: ApiKey;
}

export interface ListedApiKey {
  readonly key: ApiKey;
  readonly state: ApiKeyState;
}

interface ListApiKeysInput {
  readonly clientName?: string | undefined;
  /** Only active keys that expire within this time. */
  readonly expiresWithinMs?: number | undefined;
}

interface ListAuditInput {
  /** From 1 to `MAX_AUDIT_LIMIT`. */
  readonly limit?: number | undefined;
  /** The last event of the previous page. */
  readonly after?: bigint | undefined;
}

interface AuditTrailPage {
  readonly events: readonly AuditEvent[];
  /** The `after` of the next page; undefined on the last page. */
  readonly next: AuditEventId | undefined;
}

/**
 * A `reference` is the id of a key, its visible prefix if only one key has it, or the whole key.
 * @throws DomainError API_KEY_NOT_FOUND, API_KEY_NOT_ACTIVE, INVALID_KEY_REQUEST
 */
export class ManageApiKeys {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  async create(input: CreateApiKeyInput & { readonly ifNone?: false | undefined }): Promise<CreatedApiKey>;
  /** Resolves to undefined if `ifNone` is set and the client has a key that is neither expired nor revoked. */
  async create(input: CreateApiKeyInput): Promise<CreatedApiKey | undefined>;
  async create({ lifetimeMs, ifNone = false, ...input }: CreateApiKeyInput): Promise<CreatedApiKey | undefined> {
    const createdAt = this.clock.now();
    const expiresAt = lifetimeMs === undefined ? undefined : new Date(createdAt.getTime() + lifetimeMs);
    const issued = NewApiKey.issue({ ...input, createdAt, expiresAt });
    const key = ifNone ? await this.keys.addIfNone(issued) : await this.keys.add(issued);
    return key && { key, secret: issued.secret };
  }

  /** Returns keys in the order of their creation, of all clients by default. */
  async list({ clientName, expiresWithinMs }: ListApiKeysInput = {}): Promise<readonly ListedApiKey[]> {
    const found = await this.keys.list({ clientName: clientName === undefined ? undefined : normalizeName(clientName) });
    const now = this.clock.now();
    const listed = found.map((key) => ({ key, state: key.stateAt(now) }));
    if (expiresWithinMs === undefined) return listed;
    const endMs = now.getTime() + expiresWithinMs;
    return listed.filter(({ key, state }) => state === 'active' && key.expiresAt !== undefined && key.expiresAt.getTime() <= endMs);
  }

  async rotate(reference: string, overlapMs: number = DEFAULT_OVERLAP_MS): Promise<RotatedApiKey> {
    let secret: ApiKeySecret | undefined;
    const rotated = await this.keys.replace(await this.findId(reference), (key) => {
      const rotation = key.rotate(this.clock.now(), overlapMs);
      secret = rotation.successor.secret;
      return rotation;
    });
    if (!rotated || secret === undefined) throw notFound(reference);
    return { key: rotated.successor, secret, retired: rotated.retired };
  }

  /** Has no effect if the key is already revoked. */
  async revoke(reference: string): Promise<ApiKey> {
    const revoked = await this.keys.update(await this.findId(reference), (key) => key.revoke(this.clock.now()));
    if (!revoked) throw notFound(reference);
    return revoked;
  }

  /** Returns the changes of keys and clients, newest first. */
  async listAudit({ limit = DEFAULT_AUDIT_LIMIT, after }: ListAuditInput = {}): Promise<AuditTrailPage> {
    const bounded = Math.min(limit, MAX_AUDIT_LIMIT);
    const found = await this.keys.listAudit({ limit: bounded + 1, after: after as AuditEventId | undefined });
    const events = found.slice(0, bounded);
    return { events, next: found.length > bounded ? events.at(-1)?.id : undefined };
  }

  private async findId(reference: string): Promise<ApiKeyId> {
    const id = parseInt64(reference);
    if (id !== undefined) return id as ApiKeyId;
    const isSecret = isApiKeySecret(reference);
    const [key, ...others] = isSecret ? [await this.keys.findBySecret(reference)] : await this.keys.list({ prefix: reference });
    if (!key) throw notFound(reference);
    if (others.length === 0) return key.id;
    const ids = [key, ...others].map((other) => String(other?.id)).join(', ');
    throw new DomainError(API_KEY_NOT_FOUND, `Several API keys have the prefix ${reference}. Use one of the ids ${ids}.`);
  }
}

function notFound(reference: string): DomainError {
  return new DomainError(API_KEY_NOT_FOUND, `No API key matches ${redactKeys(reference)}.`);
}
