import { INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CURSOR_SCHEMA, decodeCursor, encodeCursor, toQueryString } from './cursor.js';

const id = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
const value = fc.constantFrom(undefined, 'available', 'sold&category=7', 7n);
const filters = fc.record({ status: value, category: value }).map(toQueryString);

describe('a cursor', () => {
  it('brings back the identifier for its filters', () => {
    fc.assert(fc.property(id, filters, (after, of) => decodeCursor(encodeCursor(after, of), of) === after));
  });

  it('is refused for other filters', () => {
    fc.assert(
      fc.property(id, filters, filters, (after, of, other) => of === other || decodeCursor(encodeCursor(after, of), other) === undefined),
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

  it('is never shorter than the OpenAPI document says', () => {
    fc.assert(fc.property(id, filters, (after, of) => encodeCursor(after, of).length >= CURSOR_SCHEMA.minLength));
    const shorter = fc.string({ maxLength: CURSOR_SCHEMA.minLength - 1 });
    fc.assert(fc.property(shorter, filters, (text, of) => decodeCursor(text, of) === undefined));
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
    [encodeCursor(1n, '')],
  ])('refuses %j', (text) => expect(decodeCursor(text, '')).toBeUndefined());
});

describe('the filters of a query string', () => {
  it('have one order, and leave out what is undefined', () => {
    expect(toQueryString({ status: 'sold', category: 7n, further: undefined })).toBe('&category=7&status=sold');
    expect(toQueryString({ category: 7n, status: 'sold' })).toBe('&category=7&status=sold');
    expect(toQueryString({})).toBe('');
  });

  it('tell any two filters apart', () => {
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
