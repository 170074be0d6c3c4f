import { INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { acceptsCursor, CURSOR_SCHEMA, decodeCursor, encodeCursor } from './cursor.js';

const id = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
const filters = fc.constantFrom('', '&status=available', '&category=7', '&category=7&status=sold', '&status=sold%26category%3D7');

describe('a cursor', () => {
  it('is accepted with the same filters, and decodes to its identifier', () => {
    fc.assert(
      fc.property(id, filters, (after, of) => {
        const cursor = encodeCursor(after, of);
        expect([acceptsCursor(cursor, of), decodeCursor(cursor)]).toEqual([true, after]);
      }),
    );
  });

  it('stays valid in later releases', () => {
    const cursor = 'AQAAAAAAAAAYvBVnxQ';
    expect([acceptsCursor(cursor, '&status=available'), decodeCursor(cursor)]).toEqual([true, 24n]);
  });

  it('is rejected if one of the unused bits of its last character is set', () => {
    const cursor = encodeCursor(24n, '');
    const characters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'];
    const accepted = characters.filter((character) => acceptsCursor(cursor.slice(0, -1) + character, ''));
    expect(accepted).toEqual([cursor.at(-1)]);
  });

  it('is rejected with other filters', () => {
    fc.assert(fc.property(id, filters, filters, (after, of, other) => of === other || !acceptsCursor(encodeCursor(after, of), other)));
  });

  it('is rejected if any character is changed', () => {
    fc.assert(
      fc.property(id, filters, fc.nat(17), fc.constantFrom(...'AZaz09-_'), (after, of, index, character) => {
        const cursor = encodeCursor(after, of);
        fc.pre(cursor[index] !== character);
        expect(acceptsCursor(cursor.slice(0, index) + character + cursor.slice(index + 1), of)).toBe(false);
      }),
    );
  });

  it('has at least the minimum length in the OpenAPI document', () => {
    fc.assert(fc.property(id, filters, (after, of) => encodeCursor(after, of).length >= CURSOR_SCHEMA.minLength));
    const shorter = fc.string({ maxLength: CURSOR_SCHEMA.minLength - 1 });
    fc.assert(fc.property(shorter, filters, (text, of) => !acceptsCursor(text, of)));
  });

  it.each([
    '',
    'x',
    'AQAAAAAAAAAAAAAAA',
    'AQAAAAAAAAAAAAAAAAA',
    'AQAAAAAAAAAAAAAAA=',
    `.${encodeCursor(1n, '')}`,
    `${encodeCursor(1n, '')}.`,
    `${encodeCursor(1n, '')}\n`,
    7,
    null,
    undefined,
    [encodeCursor(1n, '')],
  ])('rejects %j', (text) => expect(acceptsCursor(text, '')).toBe(false));
});
