export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

/** The rule in error messages, after the name of the field. */
export const INT64_RULE = 'must be an integer from -9223372036854775808 to 9223372036854775807';

/** Maximum number of digits of an int64. */
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
