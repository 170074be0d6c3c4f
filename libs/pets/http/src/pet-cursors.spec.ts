import { CURSORS } from '@animal-store/http-contract';
import { INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PET_CURSORS } from './pet-cursors.js';

const id = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
const filters = fc.constantFrom('', '&status=available', '&status=pending', '&status=sold', '&id=7', '&id=7&status=sold');

describe('the cursors of pets', () => {
  // Of docs/releases/1.0.0/openapi.json.
  it('are those of 1.0.0, for its filters', () => {
    const cursor = 'AQEAAAAAAAAAFAHpw3Y';
    expect(PET_CURSORS.encode(20n, '&status=available')).toBe(cursor);
    expect([PET_CURSORS.accepts(cursor, '&status=available'), PET_CURSORS.decode(cursor)]).toEqual([true, 20n]);
  });

  it('of 1.0.0 and of the next release are accepted with the same filters only', () => {
    fc.assert(
      fc.property(id, filters, filters, fc.constantFrom(CURSORS, PET_CURSORS), (after, of, other, format) => {
        const cursor = format.encode(after, of);
        expect([PET_CURSORS.accepts(cursor, other), PET_CURSORS.decode(cursor)]).toEqual([of === other, after]);
      }),
    );
  });

  it('are rejected if any character is changed', () => {
    fc.assert(
      fc.property(id, filters, fc.nat(18), fc.constantFrom(...'AZaz09-_'), (after, of, index, character) => {
        const cursor = PET_CURSORS.encode(after, of);
        fc.pre(cursor[index] !== character);
        expect(PET_CURSORS.accepts(cursor.slice(0, index) + character + cursor.slice(index + 1), of)).toBe(false);
      }),
    );
  });
});
