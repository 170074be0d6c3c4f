import { INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeCursor, encodeCursor } from './cursor.js';

const id = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
const value = fc.constantFrom(undefined, 'available', 'sold', 'a"]["b', 7n);
const filters = fc.record({ status: value, category: value });

describe('a cursor', () => {
  it('brings back the identifier for its filters', () => {
    fc.assert(fc.property(id, filters, (after, of) => decodeCursor(encodeCursor(after, of), of) === after));
  });

  it('is refused for other filters', () => {
    fc.assert(
      fc.property(id, filters, filters, (after, of, other) => {
        const isSame = of.status === other.status && of.category === other.category;
        return isSame || decodeCursor(encodeCursor(after, of), other) === undefined;
      }),
    );
  });

  it('does not tell a filter that is undefined from one that is missing, nor their order', () => {
    fc.assert(
      fc.property(id, filters, (after, { status, category }) => {
        const cursor = encodeCursor(after, { status, category, further: undefined });
        return decodeCursor(cursor, { category, status }) === after;
      }),
    );
  });

  it('has one spelling only: no other character will do anywhere', () => {
    fc.assert(
      fc.property(id, filters, fc.nat(17), fc.constantFrom(...'AZaz09-_'), (after, of, index, character) => {
        const cursor = encodeCursor(after, of);
        fc.pre(cursor[index] !== character);
        expect(decodeCursor(cursor.slice(0, index) + character + cursor.slice(index + 1), of)).toBeUndefined();
      }),
    );
  });

  // The last but one is of the format before this one.
  it.each([
    '',
    'x',
    'AgAAAAAAAAAAAAAAA',
    'AgAAAAAAAAAAAAAAAAA',
    'AgAAAAAAAAAAAAAAA=',
    'AQEAAAAAAAAAFAHpw3Y',
    7,
    null,
    undefined,
    [encodeCursor(1n, {})],
  ])('refuses %j', (text) => expect(decodeCursor(text, {})).toBeUndefined());
});
