import { INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CURSOR_SCHEMA, CURSORS } from './cursor.js';

const id = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
const filters = fc.constantFrom('', '&status=available', '&category=7', '&category=7&status=sold', '&status=sold%26category%3D7');

describe('a cursor', () => {
  it('is accepted with the same filters, and decodes to its identifier', () => {
    fc.assert(
      fc.property(id, filters, (after, of) => {
        const cursor = CURSORS.encode(after, of);
        expect([CURSORS.accepts(cursor, of), CURSORS.decode(cursor)]).toEqual([true, after]);
      }),
    );
  });

  it('of an earlier release stays valid', () => {
    const cursor = 'AgAAAAAAAAAYxwvlJg';
    expect([CURSORS.accepts(cursor, '&status=available'), CURSORS.decode(cursor)]).toEqual([true, 24n]);
  });

  it('is rejected if one of the unused bits of its last character is set', () => {
    const cursor = CURSORS.encode(24n, '');
    const characters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'];
    const accepted = characters.filter((character) => CURSORS.accepts(cursor.slice(0, -1) + character, ''));
    expect(accepted).toEqual([cursor.at(-1)]);
  });

  it('is rejected with other filters', () => {
    fc.assert(fc.property(id, filters, filters, (after, of, other) => of === other || !CURSORS.accepts(CURSORS.encode(after, of), other)));
  });

  it('is rejected if any character is changed', () => {
    fc.assert(
      fc.property(id, filters, fc.nat(17), fc.constantFrom(...'AZaz09-_'), (after, of, index, character) => {
        const cursor = CURSORS.encode(after, of);
        fc.pre(cursor[index] !== character);
        expect(CURSORS.accepts(cursor.slice(0, index) + character + cursor.slice(index + 1), of)).toBe(false);
      }),
    );
  });

  it('has at least the minimum length in the OpenAPI document', () => {
    fc.assert(fc.property(id, filters, (after, of) => CURSORS.encode(after, of).length >= CURSOR_SCHEMA.minLength));
    const shorter = fc.string({ maxLength: CURSOR_SCHEMA.minLength - 1 });
    fc.assert(fc.property(shorter, filters, (text, of) => !CURSORS.accepts(text, of)));
  });

  // Includes a cursor of the previous format.
  it.each([
    '',
    'x',
    'AgAAAAAAAAAAAAAAA',
    'AgAAAAAAAAAAAAAAAAA',
    'AgAAAAAAAAAAAAAAA=',
    'AQEAAAAAAAAAFAHpw3Y',
    `.${CURSORS.encode(1n, '')}`,
    `${CURSORS.encode(1n, '')}.`,
    `${CURSORS.encode(1n, '')}\n`,
    7,
    null,
    undefined,
    [CURSORS.encode(1n, '')],
  ])('rejects %j', (text) => expect(CURSORS.accepts(text, '')).toBe(false));
});
