import type { ApiKey } from './api-key.js';
import type { Client } from './client.js';

declare const brand: unique symbol;

/** Assigned by the store; any int64. */
export type AuditEventId = bigint & { readonly [brand]: 'AuditEventId' };

/** Who changes keys and clients, as stated by the caller. The store adds the database role. */
export type Operator = string & { readonly [brand]: 'Operator' };

export const UNKNOWN_OPERATOR = 'unknown' as Operator;

export type AuditAction = 'create' | 'rotate' | 'revoke' | 'disable' | 'enable' | 'set-rate-limit';

/** A change. Contains copies of names, so that it does not depend on the client and the key. Never contains a secret. */
export interface AuditEntry {
  readonly action: AuditAction;
  readonly clientId: bigint;
  readonly clientName: string;
  readonly keyId?: bigint | undefined;
  readonly keyPrefix?: string | undefined;
  readonly details: Readonly<Record<string, string | number | null>>;
}

/** A stored entry: what, who and when. */
export interface AuditEvent extends AuditEntry {
  readonly id: AuditEventId;
  readonly operator: Operator;
  readonly databaseRole: string;
  readonly occurredAt: Date;
}

export interface AuditPage {
  /** Maximum number of events. */
  readonly limit: number;
  /** Only events that come after this one in the list, that is, older ones. */
  readonly after?: AuditEventId | undefined;
}

export function keyCreated(key: ApiKey): AuditEntry {
  return ofKey('create', key, { scopes: key.scopes.join(' '), expiresAt: toText(key.expiresAt) });
}

export function keyRotated(retired: ApiKey, successor: ApiKey): AuditEntry {
  const details = { expiresAt: toText(retired.expiresAt), successorId: String(successor.id), successorPrefix: successor.prefix };
  return ofKey('rotate', retired, details);
}

export function keyRevoked(key: ApiKey): AuditEntry {
  return ofKey('revoke', key, {});
}

/** Returns an entry for each difference. */
export function clientChanged(before: Client, after: Client): AuditEntry[] {
  const entries: AuditEntry[] = [];
  if (before.rateLimit !== after.rateLimit) {
    entries.push(ofClient('set-rate-limit', after, { from: before.rateLimit ?? null, to: after.rateLimit ?? null }));
  }
  if (!before.disabledAt !== !after.disabledAt) entries.push(ofClient(after.disabledAt ? 'disable' : 'enable', after, {}));
  return entries;
}

function ofKey(action: AuditAction, { id, prefix, client }: ApiKey, details: AuditEntry['details']): AuditEntry {
  return { ...ofClient(action, client, details), keyId: id, keyPrefix: prefix };
}

function ofClient(action: AuditAction, { id, name }: Client, details: AuditEntry['details']): AuditEntry {
  return { action, clientId: id, clientName: name, details };
}

function toText(date: Date | undefined): string | null {
  return date?.toISOString() ?? null;
}
