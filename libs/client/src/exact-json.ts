import { INT64_MEMBERS } from './openapi.generated.js';

/** Matches strings and numbers, with a colon that follows. A string that is not closed ends with the text, so no match begins inside a string. */
const STRING_OR_NUMBER = /(?:("(?:[^"\\]|\\.)*(?:"|\\?$))|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(\s*:)?/gs;
const INTEGER = /^-?\d+$/;

/**
 * Parses JSON, with int64 members as bigints. `JSON.parse` rounds integers above 2^53. In Node.js 20 and some browsers, its reviver
 * cannot access the source text. So numbers are parsed as strings with the prefix `n`, and strings get the prefix `s`.
 */
export function parseJson(text: string): unknown {
  const prefixed = text.replace(STRING_OR_NUMBER, (token: string, string?: string, colon?: string) => {
    // A member name, or a number in its place, for which JSON.parse throws.
    if (colon !== undefined) return token;
    return string === undefined ? `"n${token}"` : `"s${string.slice(1)}`;
  });
  return JSON.parse(prefixed, (name, value: unknown) => {
    if (typeof value !== 'string') return value;
    const source = value.slice(1);
    if (value.startsWith('s')) return source;
    return INT64_MEMBERS.has(name) && INTEGER.test(source) ? BigInt(source) : Number(source);
  });
}

/** Returns a value as JSON, with bigints as numbers. */
export function stringifyJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => stringifyJson(item ?? null)).join()}]`;
  const members = definedEntries(value).map(([name, member]) => `${JSON.stringify(name)}:${stringifyJson(member)}`);
  return `{${members.join()}}`;
}

/** Returns the members that are not undefined. Throws if an int64 member has the type `number`, because its value may be rounded already. */
export function definedEntries(value: object): [name: string, member: unknown][] {
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  for (const [name, member] of entries) if (INT64_MEMBERS.has(name)) assertNotNumber(name, member);
  return entries;
}

export function isInt64(value: unknown): value is bigint {
  return typeof value === 'bigint' && BigInt.asIntN(64, value) === value;
}

export function assertNotNumber(name: string, value: unknown): void {
  if (typeof value === 'number') throw new TypeError(`${name} must be a bigint such as 7n, because a number is not exact above 2^53`);
}
