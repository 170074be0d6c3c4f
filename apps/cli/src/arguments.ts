import { redactKeys } from '@animal-store/access-domain';
import { parseInt64 } from '@animal-store/kernel';
import { InvalidArgumentError } from 'commander';

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Parses a duration such as `30s`, `15m`, `24h`, `90d` or `2w` to milliseconds. */
export function parseDuration(text: string): number {
  const [, amount, unit = ''] = /^([0-9]{1,12})([smhdw])$/.exec(text) ?? [];
  const unitMs = UNITS_MS[unit];
  if (unitMs === undefined) throw new InvalidArgumentError('It must be a number and a unit, such as 30s, 15m, 24h, 90d or 2w.');
  return Number(amount) * unitMs;
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
  return [...new Set([...before, ...text.split(',').map((scope) => scope.trim())])];
}

/** The name is stored, and a key must never be. */
export function parseClientName(text: string): string {
  if (redactKeys(text) !== text) throw new InvalidArgumentError('It must not contain an API key.');
  return text;
}

export function parseId(text: string): bigint {
  const id = parseInt64(text);
  if (id === undefined) throw new InvalidArgumentError('It must be an id.');
  return id;
}
