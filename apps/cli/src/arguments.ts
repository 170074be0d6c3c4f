import {
  CLIENT_NAME_RULE,
  isClientName,
  isKeyEnvironment,
  isScope,
  KEY_ENVIRONMENT_RULE,
  MAX_RATE_LIMIT,
  normalizeName,
  redactKeys,
  SCOPES_RULE,
} from '@animal-store/access-domain';
import { parseInt64 } from '@animal-store/kernel';
import { InvalidArgumentError } from 'commander';

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const MAX_MS = 36_500 * UNITS_MS.d;

const DURATION = /^([0-9]{1,12})([smhdw])$/;

/** Parses a duration such as `30s`, `15m`, `24h`, `90d` or `2w` to milliseconds. The maximum is a hundred years. */
export function parseDuration(text: string): number {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  const ms = Number(amount) * UNITS_MS[unit as keyof typeof UNITS_MS];
  if (!(ms <= MAX_MS))
    throw new InvalidArgumentError('It must be a number and a unit, such as 30s, 15m, 24h, 90d or 2w, and at most 36500d.');
  return ms;
}

export function parseLifetime(text: string): number {
  const ms = parseDuration(text);
  if (ms === 0) throw new InvalidArgumentError('It must be longer than zero.');
  return ms;
}

export function integerParser(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^[0-9]{1,10}$/.test(text) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be an integer from ${String(minimum)} to ${String(maximum)}.`);
  };
}

/** Parses scopes separated by commas and adds them to `before`: the option may be repeated. */
export function parseScopes(text: string, before: readonly string[] = []): readonly string[] {
  const scopes = [...new Set([...before, ...text.split(',').map((scope) => scope.trim())])];
  if (scopes.every(isScope)) return scopes;
  throw new InvalidArgumentError(`It ${SCOPES_RULE}.`);
}

export function parseClientName(text: string): string {
  if (redactKeys(text) !== text) throw new InvalidArgumentError('It must not contain an API key.');
  if (isClientName(normalizeName(text))) return text;
  throw new InvalidArgumentError(`It ${CLIENT_NAME_RULE}.`);
}

/** PostgreSQL reads PUBLIC and NONE in any case and in quotes as keywords, and roles with `pg_` are those of the system. */
export function parseRole(text: string): string {
  if (/^(?:public|none|current_user|current_role|session_user|pg_.*)$/i.test(text))
    throw new InvalidArgumentError('It must be a role of your own: PUBLIC means every role, and pg_ is the prefix of system roles.');
  return parseClientName(text);
}

/** Parses requests per minute, or `default`. 0 means no limit. */
export function parseRateLimit(text: string): number | 'default' {
  return text === 'default' ? 'default' : integerParser(0, MAX_RATE_LIMIT)(text);
}

export function parseId(text: string): bigint {
  const id = parseInt64(text);
  if (id === undefined) throw new InvalidArgumentError('It must be an id.');
  return id;
}

export function parseEnvironment(text: string): string {
  if (isKeyEnvironment(text)) return text;
  throw new InvalidArgumentError(`It ${KEY_ENVIRONMENT_RULE}.`);
}
