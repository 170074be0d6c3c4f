import { DomainError } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseIdempotencyKey } from './idempotency-key.js';

const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 255,
});

describe('the Idempotency-Key', () => {
  it('is the same quoted and bare', () => {
    fc.assert(
      fc.property(visible, (key) => {
        expect(parseIdempotencyKey(`"${key.replace(/["\\]/g, '\\$&')}"`)).toBe(key);
        fc.pre(!key.startsWith('"'));
        expect(parseIdempotencyKey(key)).toBe(key);
      }),
    );
  });

  it.each(['', '""', 'a b', 'a, b', '"a b"', '"a', '"a"b', '"a\\b"', 'ä', 'a\tb', 'x'.repeat(256), `"${'x'.repeat(256)}"`])(
    'is refused when it is %j',
    (field) => {
      expect(() => parseIdempotencyKey(field)).toThrow(DomainError);
    },
  );
});
