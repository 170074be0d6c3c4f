import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isVisibleText, VISIBLE_TEXT_PATTERN, visibleTextRule } from './visible-text.js';

const MAX_LENGTH = 255;
const isVisible = (text: unknown) => isVisibleText(text, MAX_LENGTH);

/** Any code point, also a lone surrogate. fast-check's unit `binary` takes more than a second to build. */
const codePoint = fc.nat(0x10_ffff).map((code) => String.fromCodePoint(code));

describe('isVisibleText', () => {
  it('accepts any well-formed text of 1 to 255 code points with a visible one', () => {
    const visible = fc
      .string({ unit: codePoint, minLength: 1, maxLength: 255 })
      .filter((text) => text.isWellFormed() && !text.includes('\0') && text.trim() !== '' && /\P{White_Space}/u.test(text));
    fc.assert(fc.property(visible, isVisible));
  });

  it('counts code points, not UTF-16 units', () => {
    expect(isVisible('🐕'.repeat(255))).toBe(true);
    expect(isVisible('🐕'.repeat(256))).toBe(false);
    expect(isVisible('x'.repeat(255))).toBe(true);
    expect(isVisible('x'.repeat(256))).toBe(false);
    expect(isVisible(`${'🐕'.repeat(254)}xx`)).toBe(false);
  });

  it.each(['', 'u'])('accepts the characters that the pattern in the OpenAPI document allows with the flags "%s"', (flags) => {
    const pattern = new RegExp(VISIBLE_TEXT_PATTERN, flags);
    const character = fc.oneof(
      fc.constantFrom('\t', ' ', '\u0085', '\u00a0', '\u1680', '\u2003', '\u2028', '\u3000', '\u180e', '\u200b', '\ufeff'),
      fc.constantFrom('\0', '\u0001', 'x', 'é', '🐕', '\ud83d', '\udc15'),
      codePoint,
    );
    const text = fc.array(character, { maxLength: 4 }).map((characters) => characters.join(''));
    const around = fc.integer({ min: 253, max: 256 }).chain((length) => text.map((end) => '🐕'.repeat(length) + end));
    fc.assert(
      fc.property(fc.oneof(text, around), (name) => {
        const codePoints = Array.from(name).length;
        const isAllowed = pattern.test(name) && codePoints <= MAX_LENGTH;
        expect(isVisible(name)).toBe(isAllowed);
        // The documented rule.
        expect(isAllowed).toBe(codePoints <= MAX_LENGTH && /\P{White_Space}/u.test(name) && !name.includes('\0') && name.isWellFormed());
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['', ' ', '\t\n\r', '\u0085\u00a0\u1680\u2003\u2028\u202f\u205f\u3000', 'a\0b', '\ud800', 'Rex\udc00', 7, null, undefined, {}])(
    'rejects %j',
    (value) => expect(isVisible(value)).toBe(false),
  );

  it('accepts surrounding white space, and U+FEFF, which is not white space', () => {
    expect(isVisible('  Rex ')).toBe(true);
    expect(isVisible('\ufeff')).toBe(true);
  });
});

it('visibleTextRule names the greatest length', () => {
  expect(visibleTextRule(7)).toMatch(/^must be a string of 1 to 7 characters, not only white space/);
});
