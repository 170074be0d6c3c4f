export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

/** The rule in error messages, after the name of the field. */
export const INT64_RULE = 'must be an integer from -9223372036854775808 to 9223372036854775807';

const INT64_MAX_DIGITS = 19;

const CANONICAL_INTEGER = /^-?(?:0|[1-9][0-9]*)$/;
// RFC 8259, section 6: number = [ minus ] int [ frac ] [ exp ]
const JSON_NUMBER = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

export function isInt64(value: unknown): value is bigint {
  return typeof value === 'bigint' && value >= INT64_MIN && value <= INT64_MAX;
}

/** Parses `-?(0|[1-9][0-9]*)` in the range of int64. Returns undefined for any other text. */
export function parseInt64(text: string): bigint | undefined {
  if (text.length > INT64_MAX_DIGITS + 1 || !CANONICAL_INTEGER.test(text)) return undefined;
  const value = BigInt(text);
  return isInt64(value) ? value : undefined;
}

/**
 * Parses the source text of a JSON number exactly. Returns undefined unless its value is an integer in the range of int64; `7`, `7.0`
 * and `7e0` are the same integer. Takes linear time in the length of the text, whatever its exponent.
 */
export function int64FromJsonNumber(source: string): bigint | undefined {
  const match = JSON_NUMBER.exec(source);
  if (!match) return undefined;
  const [, sign, integer = '', fraction = '', exponent = '0'] = match;
  const digits = integer + fraction;
  const significant = trimZeros(digits);
  if (significant.text === '') return 0n;
  // value = significant.text × 10^scale
  const scale = Number(exponent) - fraction.length + significant.trailing;
  if (scale < 0 || significant.text.length + scale > INT64_MAX_DIGITS) return undefined;
  const value = BigInt(`${sign}${significant.text}${'0'.repeat(scale)}`);
  return isInt64(value) ? value : undefined;
}

function trimZeros(digits: string): { text: string; trailing: number } {
  let start = 0;
  let end = digits.length;
  while (start < end && digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  return { text: digits.slice(start, end), trailing: digits.length - end };
}

/** The Unicode property White_Space, in a form that all regular expression dialects support. */
const WHITE_SPACE = '\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';

/**
 * The characters of a visible text of any length. Published in the OpenAPI document. It names no surrogates, which many dialects cannot
 * read, and which well-formed text does not have unpaired.
 */
export const VISIBLE_TEXT_PATTERN = `^[${WHITE_SPACE}]*[^${WHITE_SPACE}\\u0000][^\\u0000]*$`;
const VISIBLE_TEXT = new RegExp(VISIBLE_TEXT_PATTERN);

/** Returns the rule for error messages, which follows the name of the field. The length is in Unicode code points. */
export const visibleTextRule = (maxLength: number) =>
  `must be a string of 1 to ${String(maxLength)} characters, not only white space, without U+0000 or unpaired surrogates`;

/** Returns whether the value follows `visibleTextRule`. PostgreSQL stores and returns such a text unchanged. */
export function isVisibleText(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && hasAtMostCodePoints(value, maxLength) && value.isWellFormed() && VISIBLE_TEXT.test(value);
}

function hasAtMostCodePoints(text: string, max: number): boolean {
  if (text.length <= max) return true;
  // A code point takes one or two UTF-16 units.
  return text.length <= 2 * max && Array.from(text).length <= max;
}

/** The rule in error messages, after the name of the field. */
export const UTC_TIME_RULE =
  'must be an RFC 3339 time of the years 0001 to 9999, in UTC or with an offset, exact to the millisecond, such as 2026-05-17T09:30:00.000Z';

/** RFC 3339, section 5.6. Further digits of a second must be zeros. A Date has neither leap seconds nor 24:00. */
const RFC_3339 = /^(\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3])(?::[0-5]\d){2})(?:\.(\d{1,3})0*)?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;
const MS_PER_MINUTE = 60_000;

/** Returns whether the value is a Date that JSON, RFC 3339 and PostgreSQL represent in the same way. */
export function isUtcTime(value: unknown): value is Date {
  if (!(value instanceof Date)) return false;
  const year = value.getUTCFullYear();
  return year >= 1 && year <= 9999;
}

/** Parses an RFC 3339 time. Returns undefined for a text that is not one, or that a Date of the years 1 to 9999 cannot represent exactly. */
export function parseUtcTime(text: string): Date | undefined {
  const [, local, milliseconds = '', sign, hours, minutes] = RFC_3339.exec(text) ?? [];
  if (local === undefined) return undefined;
  const atOffset = new Date(`${local}.${milliseconds.padEnd(3, '0')}Z`);
  // `new Date` accepts 30 February, as 2 March.
  if (Number.isNaN(atOffset.getTime()) || !atOffset.toISOString().startsWith(local.toUpperCase())) return undefined;
  const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * MS_PER_MINUTE;
  const time = new Date(atOffset.getTime() - (sign === '-' ? -offset : offset));
  return isUtcTime(time) ? time : undefined;
}
