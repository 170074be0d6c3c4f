import fc from 'fast-check';

export const INT64_MAX = 2n ** 63n - 1n;
export const INT64_MIN = -(2n ** 63n);

/** int64 values, often near 0, ±2^53 and the limits. */
export const int64 = fc.oneof(
  fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
  fc
    .tuple(fc.constantFrom(0n, 2n ** 53n, -(2n ** 53n), 2n ** 63n, -(2n ** 63n)), fc.bigInt({ min: -9n, max: 9n }))
    .map(([edge, offset]) => edge + offset)
    .filter((value) => value >= INT64_MIN && value <= INT64_MAX),
);

/** Any code point but a surrogate. `unit: 'binary'` builds a table of all of them. */
const character = fc.integer({ min: 0, max: 0x10_ffff }).map((codePoint) => String.fromCodePoint(codePoint).toWellFormed());

/** White space by Unicode or ECMAScript, which differ in a few characters. No name consists only of such characters. */
const BLANK = /^[\s\p{White_Space}]*$/u;

/** Valid names: 1 to 255 code points, at least one that is not white space, no U+0000. */
export const petName = fc
  .oneof(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), fc.string({ unit: character, minLength: 1, maxLength: 255 }))
  .filter((name) => !BLANK.test(name) && !name.includes('\0') && [...name].length <= 255);
