import { INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CURSOR_SCHEMA, decodeCursor, encodeCursor, isCursor, toQueryString } from './cursor.js';

const id = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
const value = fc.constantFrom(undefined, 'available', 'sold&category=7', 7n);
const filters = fc.record({ status: value, category: value }).map(toQueryString);

describe('a cursor', () => {
  it('is accepted with the same filters, and decodes to its identifier', () => {
    fc.assert(
      fc.property(id, filters, (after, of) => {
        const cursor = encodeCursor(after, of);
        expect([isCursor(cursor, of), decodeCursor(cursor)]).toEqual([true, after]);
      }),
    );
  });

  it('is rejected with other filters', () => {
    fc.assert(fc.property(id, filters, filters, (after, of, other) => of === other || !isCursor(encodeCursor(after, of), other)));
  });

  it('is rejected if any character is changed', () => {
    fc.assert(
      fc.property(id, filters, fc.nat(17), fc.constantFrom(...'AZaz09-_'), (after, of, index, character) => {
        const cursor = encodeCursor(after, of);
        fc.pre(cursor[index] !== character);
        expect(isCursor(cursor.slice(0, index) + character + cursor.slice(index + 1), of)).toBe(false);
      }),
    );
  });

  it('has at least the minimum length in the OpenAPI document', () => {
    fc.assert(fc.property(id, filters, (after, of) => encodeCursor(after, of).length >= CURSOR_SCHEMA.minLength));
    const shorter = fc.string({ maxLength: CURSOR_SCHEMA.minLength - 1 });
    fc.assert(fc.property(shorter, filters, (text, of) => !isCursor(text, of)));
  });

  // Includes a cursor of the previous format.
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
    [encodeCursor(1n, '')],
  ])('rejects %j', (text) => expect(isCursor(text, '')).toBe(false));
});

describe('the filters of a query string', () => {
  it('are sorted, and undefined ones are left out', () => {
    expect(toQueryString({ status: 'sold', category: 7n, further: undefined })).toBe('&category=7&status=sold');
    expect(toQueryString({ category: 7n, status: 'sold' })).toBe('&category=7&status=sold');
    expect(toQueryString({})).toBe('');
  });

  it('differ for any two different filters', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('a', 'b'), fc.string()),
        fc.dictionary(fc.constantFrom('a', 'b'), fc.string()),
        (one, other) => {
          const isSame = one['a'] === other['a'] && one['b'] === other['b'];
          expect(toQueryString(one) === toQueryString(other)).toBe(isSame);
        },
      ),
    );
  });
});
