import { crc32 } from 'node:zlib';
import { INT64_MAX, INT64_MIN, type OrderValue, type Position } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { acceptsCursor, CURSOR_SCHEMA, decodeCursor, decodePosition, encodeCursor, encodePosition, type SortType } from './cursors.js';

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

describe('a cursor of an ordered list', () => {
  const values: Record<SortType, fc.Arbitrary<OrderValue>> = {
    int64: id,
    integer: fc.oneof(fc.integer(), fc.constantFrom(-(2 ** 31), 2 ** 31 - 1)),
    text: fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 255 }).map((text) => text.replaceAll('\0', '')),
      fc.constantFrom('', 'x'.repeat(1024), '🐕'.repeat(255)),
    ),
    time: fc.oneof(
      fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }),
      fc.constantFrom(Infinity, -Infinity),
    ),
  };
  const types = Object.keys(values) as SortType[];
  const position = fc.constantFrom(...types).chain((type) => fc.record({ type: fc.constant(type), value: values[type], id }));

  it('decodes to its position, and only with the same filters and order', () => {
    fc.assert(
      fc.property(position, filters, filters, ({ type, ...at }, of, other) => {
        const cursor = encodePosition(at, of);
        expect(decodePosition(cursor, of, type)).toEqual(at);
        expect(decodePosition(cursor, other, type)).toEqual(other === of ? at : undefined);
        expect([acceptsCursor(cursor, of), decodePosition(encodeCursor(at.id, of), of, type)]).toEqual([false, undefined]);
      }),
    );
  });

  it('stays valid in later releases', () => {
    const at = { value: new Date('2026-11-22T10:00:00.123Z'), id: 24n };
    const cursor = 'AgAAAAAAAAAYMjAyNi0xMS0yMlQxMDowMDowMC4xMjNa95f2-A';
    expect(encodePosition(at, '&sort=startsAt')).toBe(cursor);
    expect(decodePosition(cursor, '&sort=startsAt', 'time')).toEqual(at);
  });

  it('is rejected if any character is changed, added or left out', () => {
    fc.assert(
      fc.property(position, filters, fc.nat(), fc.constantFrom('', ...'AZaz09-_=.\n'), fc.nat(1), (at, of, place, character, removed) => {
        const cursor = encodePosition(at, of);
        const index = place % cursor.length;
        const changed = cursor.slice(0, index) + character + cursor.slice(index + removed);
        fc.pre(changed !== cursor);
        expect(decodePosition(changed, of, at.type)).toBeUndefined();
      }),
    );
  });

  it('is rejected if it is anything else', () => {
    fc.assert(
      fc.property(fc.anything(), filters, fc.constantFrom(...types), (text, of, type) => decodePosition(text, of, type) === undefined),
    );
    fc.assert(fc.property(fc.base64String(), fc.constantFrom(...types), (text, type) => decodePosition(text, '', type) === undefined));
  });

  /** Returns a cursor with a valid checksum, which anybody can compute. */
  function forged(value: string | Buffer): string {
    const cursor = Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 0, 0, 0, 1]), Buffer.from(value)]);
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32BE(crc32('', crc32(cursor)));
    return Buffer.concat([cursor, checksum]).toString('base64url');
  }

  it.each<[SortType, string, string]>([
    ['int64', '9223372036854775807', '9223372036854775808'],
    ['int64', '-1', '-01'],
    ['integer', '2147483647', '2147483648'],
    ['integer', '-2147483648', '1e3'],
    ['integer', '0', ''],
    ['text', 'constructor', 'x\0'],
    ['time', '0001-01-01T00:00:00.000Z', '0000-12-31T00:00:00.000Z'],
    ['time', '-Infinity', 'infinity'],
    ['time', 'Infinity', 'NaN'],
    ['time', '2026-11-22T10:00:00.123Z', '2026-11-22T10:00:00Z'],
    ['time', '2028-02-29T10:00:00.000Z', '2026-02-29T10:00:00.000Z'],
    ['time', '9999-12-31T23:59:59.999Z', '+010000-01-01T00:00:00.000Z'],
  ])('with a valid checksum is accepted with the %s %j, and rejected with %j', (type, valid, invalid) => {
    expect(decodePosition(forged(valid), '', type)).toMatchObject({ id: 1n });
    expect(decodePosition(forged(invalid), '', type)).toBeUndefined();
  });

  it('with a valid checksum is rejected with bytes that are not UTF-8, and with more than 1,024 bytes', () => {
    expect(decodePosition(forged(Buffer.from([0xff])), '', 'text')).toBeUndefined();
    expect(decodePosition(forged('x'.repeat(1024)), '', 'text')).toEqual({ value: 'x'.repeat(1024), id: 1n });
    expect(decodePosition(forged('x'.repeat(1025)), '', 'text')).toBeUndefined();
  });

  it('cannot have a longer text', () => {
    const at: Position = { value: 'é'.repeat(513), id: 7n };
    expect(() => encodePosition(at, '')).toThrow('A text that orders a list must have at most 1024 bytes, but that of 7 is longer.');
  });
});
