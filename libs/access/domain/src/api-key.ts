import { DomainError } from '@animal-store/kernel';
import { API_KEY_NOT_ACTIVE, INVALID_KEY_REQUEST } from './access-errors.js';
import {
  type ApiKeyPrefix,
  type ApiKeySecret,
  environmentOf,
  generateApiKeySecret,
  isKeyEnvironment,
  KEY_ENVIRONMENT_RULE,
  prefixOf,
} from './api-key-secret.js';
import { type Client, CLIENT_NAME_RULE, type ClientName, isClientName, isRateLimit, normalizeName, RATE_LIMIT_RULE } from './client.js';

declare const brand: unique symbol;

/** Assigned by the store, never reused; any int64. */
export type ApiKeyId = bigint & { readonly [brand]: 'ApiKeyId' };

/**
 * `disabled`: the key would be active if its client were not disabled. `expired` includes keys with a date that cannot be read, which are
 * rejected.
 */
export type ApiKeyState = 'active' | 'disabled' | 'expired' | 'revoked';

/** A permission of a key, `<resource>:<action>`. Each context defines its scopes. */
export type Scope = string & { readonly [brand]: 'Scope' };

export const SCOPES_RULE = 'must be one or more different <resource>:<action> pairs of lower-case letters and hyphens';

const SCOPE = /^[a-z][a-z-]*:[a-z][a-z-]*$/;
const MAX_SCOPE_LENGTH = 100;

export function isScope(value: string): value is Scope {
  return value.length <= MAX_SCOPE_LENGTH && SCOPE.test(value);
}

function areScopes(values: readonly string[]): values is readonly Scope[] {
  return values.length > 0 && values.every(isScope) && new Set(values).size === values.length;
}

/** An operator's input, not validated. */
export interface NewApiKeyInput {
  readonly clientName: string;
  readonly environment: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  /** If undefined, the key does not expire. */
  readonly expiresAt?: Date | undefined;
  /** The new limit of the client. If undefined, the limit is unchanged. */
  readonly rateLimit?: number | undefined;
}

/** A key without an identifier, which the store assigns. */
export class NewApiKey {
  private constructor(
    readonly clientName: ClientName,
    /** Shown once and not stored: the store keeps its hash. */
    readonly secret: ApiKeySecret,
    readonly prefix: ApiKeyPrefix,
    readonly scopes: readonly Scope[],
    readonly createdAt: Date,
    readonly expiresAt: Date | undefined,
    readonly rateLimit: number | undefined,
  ) {}

  /** @throws DomainError INVALID_KEY_REQUEST, naming every invalid field and its rule */
  static issue({ clientName: name, environment, scopes, createdAt, expiresAt, rateLimit }: NewApiKeyInput): NewApiKey {
    const clientName = normalizeName(name);
    const expiryIsValid = expiresAt === undefined || expiresAt.getTime() > createdAt.getTime();
    const rateLimitIsValid = rateLimit === undefined || isRateLimit(rateLimit);
    if (isClientName(clientName) && isKeyEnvironment(environment) && areScopes(scopes) && expiryIsValid && rateLimitIsValid) {
      const secret = generateApiKeySecret(environment);
      return new NewApiKey(clientName, secret, prefixOf(secret), scopes, createdAt, expiresAt, rateLimit);
    }
    const violations = [
      !isClientName(clientName) && `client name ${CLIENT_NAME_RULE}`,
      !isKeyEnvironment(environment) && `environment ${KEY_ENVIRONMENT_RULE}`,
      !areScopes(scopes) && `scopes ${SCOPES_RULE}`,
      !expiryIsValid && 'expiry must be a valid date after the creation date',
      !rateLimitIsValid && `rate limit ${RATE_LIMIT_RULE}`,
    ];
    throw new DomainError(INVALID_KEY_REQUEST, violations.filter(Boolean).join('; '));
  }
}

/** A stored client. */
export interface ClientRecord {
  readonly id: bigint;
  readonly name: string;
  readonly rateLimit?: number | undefined;
  readonly disabledAt?: Date | undefined;
}

/** A stored key. */
export interface ApiKeyRecord {
  readonly id: bigint;
  readonly client: ClientRecord;
  readonly prefix: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt?: Date | undefined;
  readonly revokedAt?: Date | undefined;
  readonly lastUsedAt?: Date | undefined;
}

export interface KeyRotation<Successor> {
  readonly retired: ApiKey;
  readonly successor: Successor;
}

/** A key of a client. Its lifetime can only be shortened. */
export class ApiKey {
  private constructor(
    readonly id: ApiKeyId,
    readonly client: Client,
    readonly prefix: ApiKeyPrefix,
    readonly scopes: readonly Scope[],
    readonly createdAt: Date,
    readonly expiresAt: Date | undefined,
    readonly revokedAt: Date | undefined,
    readonly lastUsedAt: Date | undefined,
  ) {}

  /** Creates a key from stored data without validation: the database's constraints enforce the rules of `NewApiKey.issue`. */
  static rehydrate({ id, client, prefix, scopes, createdAt, expiresAt, revokedAt, lastUsedAt }: ApiKeyRecord): ApiKey {
    return new ApiKey(
      id as ApiKeyId,
      client as Client,
      prefix as ApiKeyPrefix,
      scopes as readonly Scope[],
      createdAt,
      expiresAt,
      revokedAt,
      lastUsedAt,
    );
  }

  /** Returns the state. A revoked key counts as revoked even if its time is in the future, because clocks may differ. */
  stateAt(now: Date): ApiKeyState {
    const { createdAt, expiresAt, revokedAt, lastUsedAt } = this;
    if (revokedAt) return 'revoked';
    if (expiresAt && !(expiresAt.getTime() > now.getTime())) return 'expired';
    if (isUnreadable(createdAt) || (lastUsedAt && isUnreadable(lastUsedAt))) return 'expired';
    return this.client.disabledAt ? 'disabled' : 'active';
  }

  /** Whether the key is expired or revoked. */
  hasEndedAt(now: Date): boolean {
    const state = this.stateAt(now);
    return state === 'expired' || state === 'revoked';
  }

  /** Returns the revoked key. Has no effect if it is already revoked. */
  revoke(now: Date): ApiKey {
    return this.revokedAt ? this : ApiKey.rehydrate({ ...this, revokedAt: latest(now, this.createdAt) });
  }

  /**
   * Issues a successor with the same client, scopes, environment and lifetime, and shortens this key's lifetime to the overlap.
   * @throws DomainError API_KEY_NOT_ACTIVE, INVALID_KEY_REQUEST
   */
  rotate(now: Date, overlapMs: number): KeyRotation<NewApiKey> {
    if (this.hasEndedAt(now)) throw new DomainError(API_KEY_NOT_ACTIVE, `The API key is ${this.stateAt(now)}.`);
    const overlapEnd = new Date(now.getTime() + overlapMs);
    if (!(overlapEnd.getTime() >= now.getTime()))
      throw new DomainError(INVALID_KEY_REQUEST, 'overlap must not be negative and must end at a valid date');
    const end = latest(overlapEnd, this.createdAt);
    const lifetimeMs = this.expiresAt && this.expiresAt.getTime() - this.createdAt.getTime();
    return {
      retired: ApiKey.rehydrate({ ...this, expiresAt: this.expiresAt ? earliest(end, this.expiresAt) : end }),
      successor: NewApiKey.issue({
        clientName: this.client.name,
        environment: environmentOf(this.prefix),
        scopes: this.scopes,
        createdAt: now,
        expiresAt: lifetimeMs === undefined ? undefined : new Date(now.getTime() + lifetimeMs),
      }),
    };
  }
}

function isUnreadable(date: Date): boolean {
  return Number.isNaN(date.getTime());
}

/** Returns `a` if `b` cannot be read. */
function latest(a: Date, b: Date): Date {
  return b.getTime() > a.getTime() ? b : a;
}

function earliest(a: Date, b: Date): Date {
  return a.getTime() < b.getTime() ? a : b;
}
