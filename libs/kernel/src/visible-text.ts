/** The Unicode property White_Space, in a form that all regular expression dialects support. */
const WHITE_SPACE = '\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const FORBIDDEN = '\\u0000\\ud800-\\udfff';
/** For dialects that match UTF-16 units instead of code points. */
const PAIR = '[\\ud800-\\udbff][\\udc00-\\udfff]';

/** The characters of a visible text of any length. Published in the OpenAPI document. */
export const VISIBLE_TEXT_PATTERN = `^[${WHITE_SPACE}]*(?:[^${WHITE_SPACE}${FORBIDDEN}]|${PAIR})(?:[^${FORBIDDEN}]|${PAIR})*$`;
const VISIBLE_TEXT = new RegExp(VISIBLE_TEXT_PATTERN);

/** Returns the rule for error messages, which follows the name of the field. The length is in Unicode code points. */
export const visibleTextRule = (maxLength: number) =>
  `must be a string of 1 to ${String(maxLength)} characters, not only white space, without U+0000 or unpaired surrogates`;

/** Returns whether the value follows `visibleTextRule`. PostgreSQL stores and returns such a text unchanged. */
export function isVisibleText(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && hasAtMostCodePoints(value, maxLength) && VISIBLE_TEXT.test(value);
}

function hasAtMostCodePoints(text: string, max: number): boolean {
  if (text.length <= max) return true;
  // A code point takes one or two UTF-16 units.
  return text.length <= 2 * max && Array.from(text).length <= max;
}
