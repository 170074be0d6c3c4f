import { DomainError } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { IDEMPOTENCY_KEY_SCHEMA, parseIdempotencyKey } from './idempotency-key.js';

const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 255,
});

/** The documented rule: 1 to 255 visible ASCII characters, bare or as a quoted string. */
function isAccepted(field: string): boolean {
  const characters = [...field];
  let key = field;
  if (field.startsWith('"')) {
    key = '';
    let index = 1;
    for (; index < characters.length && characters[index] !== '"'; index++) {
      if (characters[index] === '\\' && !['"', '\\'].includes(characters[++index] ?? '')) return expectRejected(field);
      key += characters[index] ?? '';
    }
    if (index !== characters.length - 1) return expectRejected(field);
  }
  const isKey = key.length >= 1 && key.length <= 255 && [...key].every((character) => character > ' ' && character < '\u007f');
  if (!isKey) return expectRejected(field);
  expect(parseIdempotencyKey(field)).toBe(key);
  return true;
}

function expectRejected(field: string): false {
  expect(() => parseIdempotencyKey(field)).toThrow(DomainError);
  return false;
}

describe('the Idempotency-Key', () => {
  it('has the same value quoted and bare', () => {
    fc.assert(
      fc.property(visible, (key) => {
        expect(parseIdempotencyKey(`"${key.replace(/["\\]/g, '\\$&')}"`)).toBe(key);
        fc.pre(!key.startsWith('"'));
        expect(parseIdempotencyKey(key)).toBe(key);
      }),
    );
  });

  it('matches the pattern in the OpenAPI document', () => {
    const pattern = new RegExp(IDEMPOTENCY_KEY_SCHEMA.pattern, 'u');
    // Quotes, backslashes and lengths around the limit. One in ten characters is not visible or not ASCII.
    const character = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('a', '!', '#', '[', ']', '~') },
      { weight: 3, arbitrary: fc.constantFrom('"', '\\', '\\"', '\\\\') },
      { weight: 1, arbitrary: fc.constantFrom(' ', '\u007f', 'ä', '\n') },
    );
    const text = fc.oneof(
      fc.array(character, { maxLength: 6 }).map((characters) => characters.join('')),
      fc.tuple(fc.constantFrom('a', '\\"', '\\\\', '"'), fc.integer({ min: 253, max: 257 })).map(([unit, times]) => unit.repeat(times)),
    );
    const field = fc.tuple(text, fc.boolean()).map(([inner, isQuoted]) => (isQuoted ? `"${inner}"` : inner));
    fc.assert(
      fc.property(field, (given) => expect(pattern.test(given)).toBe(isAccepted(given))),
      { numRuns: 500 },
    );
  });

  it.each(['', '""', 'a b', 'a, b', '"a b"', '"a', '"a"b', '"a\\b"', 'ä', 'a\tb', 'x'.repeat(256), `"${'x'.repeat(256)}"`])(
    'is rejected if it is %j',
    (field) => {
      expect(() => parseIdempotencyKey(field)).toThrow(
        expect.objectContaining({
          code: 'invalid_request',
          message: 'Idempotency-Key must be a single value of 1 to 255 visible ASCII characters, quoted or unquoted',
        }),
      );
    },
  );
});
