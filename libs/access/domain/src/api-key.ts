import { DomainError } from '@animal-store/kernel';
import { API_KEY_NOT_ACTIVE, INVALID_KEY_REQUEST } from './access-errors.js';
import {
  type ApiKeySecret,
  environmentOf,
  generateApiKeySecret,
  isKeyEnvironment,
  KEY_ENVIRONMENT_RULE,
  type KeyEnvironment,
  prefixOf,
} from './api-key-secret.js';
import { type Client, CLIENT_NAME_RULE, isClientName, normalizeName } from './client.js';

/** A key of a client. Its lifetime can only be shortened. */
export interface ApiKey {
  readonly id: bigint;
  readonly client: Client;
  /** The beginning of the secret. */
  readonly prefix: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  /** If null, the key does not expire. */
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

/**
 * `disabled`: the key would be active if its client were not disabled. `expired` includes keys with a date that cannot be read, which are
 * rejected.
 */
export type ApiKeyState = 'active' | 'disabled' | 'expired' | 'revoked';

/** Returns the state. A revoked key counts as revoked even if its time is in the future, because clocks may differ. */
export function stateOf({ client, createdAt, expiresAt, revokedAt, lastUsedAt }: ApiKey, now: Date): ApiKeyState {
  if (revokedAt) return 'revoked';
  if (expiresAt && !(expiresAt > now)) return 'expired';
  if ([createdAt, lastUsedAt].some((date) => date && Number.isNaN(date.getTime()))) return 'expired';
  return client.disabledAt ? 'disabled' : 'active';
}

const SCOPES_RULE = 'must be one or more different <resource>:<action> pairs of lower-case letters and hyphens';

/** Whether the text is a permission `<resource>:<action>`. Each context defines its scopes. */
export function isScope(text: string): boolean {
  return text.length <= 100 && /^[a-z][a-z-]*:[a-z][a-z-]*$/.test(text);
}

/** An operator's input, not validated. */
export interface NewApiKeyInput {
  readonly clientName: string;
  readonly environment: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

/** A key that is not stored yet. */
export interface NewApiKey extends Omit<NewApiKeyInput, 'environment'> {
  /** Shown once and not stored: the store keeps its hash. */
  readonly secret: ApiKeySecret;
  readonly prefix: string;
}

/** @throws DomainError INVALID_KEY_REQUEST, naming every invalid field and its rule */
export function issueApiKey({ clientName, environment, scopes, createdAt, expiresAt }: NewApiKeyInput): NewApiKey {
  const name = normalizeName(clientName);
  const violations = [
    !isClientName(name) && `client name ${CLIENT_NAME_RULE}`,
    !isKeyEnvironment(environment) && `environment ${KEY_ENVIRONMENT_RULE}`,
    !(scopes.length > 0 && scopes.every(isScope) && new Set(scopes).size === scopes.length) && `scopes ${SCOPES_RULE}`,
    expiresAt && !(expiresAt > createdAt) && 'expiry must be a valid date after the creation date',
  ].filter(Boolean);
  if (violations.length > 0) throw new DomainError(INVALID_KEY_REQUEST, violations.join('; '));
  const secret = generateApiKeySecret(environment as KeyEnvironment);
  return { clientName: name, secret, prefix: prefixOf(secret), scopes, createdAt, expiresAt };
}

export interface KeyRotation {
  /** The expiry of the old key. */
  readonly expiresAt: Date;
  readonly successor: NewApiKey;
}

/** A stored key with its secret, which is shown once. */
export interface IssuedApiKey {
  readonly key: ApiKey;
  readonly secret: ApiKeySecret;
}

export interface RotatedApiKey extends IssuedApiKey {
  /** The old key with its new expiry. */
  readonly retired: ApiKey;
}

/**
 * Issues a successor with the same client, scopes, environment and lifetime, and shortens the lifetime of the old key to the overlap.
 * @throws DomainError API_KEY_NOT_ACTIVE, INVALID_KEY_REQUEST
 */
export function rotateApiKey(key: ApiKey, now: Date, overlapMs: number): KeyRotation {
  const state = stateOf(key, now);
  if (state === 'expired' || state === 'revoked') throw new DomainError(API_KEY_NOT_ACTIVE, `The API key is ${state}.`);
  const overlapEnd = new Date(now.getTime() + overlapMs);
  if (!(overlapEnd >= now)) throw new DomainError(INVALID_KEY_REQUEST, 'overlap must not be negative and must end at a valid date');
  const end = notBeforeCreation(key, overlapEnd);
  const lifetimeMs = key.expiresAt && key.expiresAt.getTime() - key.createdAt.getTime();
  return {
    expiresAt: key.expiresAt && key.expiresAt < end ? key.expiresAt : end,
    successor: issueApiKey({
      clientName: key.client.name,
      environment: environmentOf(key.prefix),
      scopes: key.scopes,
      createdAt: now,
      expiresAt: lifetimeMs === null ? null : new Date(now.getTime() + lifetimeMs),
    }),
  };
}

/** Returns the date, or the key's creation date if that is later, because clocks may differ. */
export function notBeforeCreation({ createdAt }: ApiKey, date: Date): Date {
  return createdAt > date ? createdAt : date;
}
