import { crc32 } from 'node:zlib';
import { INT64_MAX, INT64_MIN, type OrderValue, type Position } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeCursor, encodeCursor, isCursor, type SortType } from './cursors.js';

const id = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
const filters = fc.constantFrom('', '&status=available', '&category=7', '&category=7&status=sold', '&status=sold%26category%3D7');

const URL = '/v1/toys';

/** Returns the position of the cursor, or undefined if it is not one of the list at this URL. */
function read(text: unknown, of: string, type?: SortType, url = URL): Position | undefined {
  return isCursor(text, of, type) ? decodeCursor(text, url, type) : undefined;
}

describe('a cursor', () => {
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

  /** Of a list by identifier, or of an ordered one. */
  const cursors = fc.oneof(
    fc.record({ type: fc.constant(undefined), after: fc.record({ id }) }),
    position.map(({ type, ...after }) => ({ type, after })),
  );

  it('decodes to its position, and only with the same filters and order', () => {
    fc.assert(
      fc.property(cursors, filters, filters, ({ type, after }, of, other) => {
        const cursor = encodeCursor(after, URL, of);
        expect(read(cursor, of, type)).toMatchObject(after);
        if (other !== of) expect(read(cursor, other, type)).toBeUndefined();
      }),
    );
  });

  it('belongs to its list, and to no other operation or parent', () => {
    const urls = ['/v1/visits', '/v1/visits/1/treatments', '/v1/visits/2/treatments', '/v1/pets', 'https://api.example.com/v1/pets'];
    for (const url of urls) {
      const cursor = encodeCursor({ id: 7n }, url, '');
      expect(urls.filter((other) => read(cursor, '', undefined, other))).toEqual([url]);
    }
  });

  it('of a list by identifier is not accepted by an ordered one, and the other way round', () => {
    expect(read(encodeCursor({ id: 7n }, URL, ''), '', 'int64')).toBeUndefined();
    expect(read(encodeCursor({ value: 'x', id: 7n }, URL, ''), '')).toBeUndefined();
  });

  it('is rejected if any character is changed, added or left out', () => {
    fc.assert(
      fc.property(
        cursors,
        filters,
        fc.nat(),
        fc.constantFrom('', ...'AZaz09-_=.\n'),
        fc.nat(1),
        ({ type, after }, of, place, character, removed) => {
          const cursor = encodeCursor(after, URL, of);
          const index = place % cursor.length;
          const changed = cursor.slice(0, index) + character + cursor.slice(index + removed);
          fc.pre(changed !== cursor);
          expect(read(changed, of, type)).toBeUndefined();
        },
      ),
    );
  });

  it('is rejected if it is anything else', () => {
    fc.assert(fc.property(fc.anything(), filters, fc.constantFrom(...types), (text, of, type) => read(text, of, type) === undefined));
    fc.assert(fc.property(fc.base64String(), fc.constantFrom(...types), (text, type) => read(text, '', type) === undefined));
  });

  /** Returns a cursor with valid checksums, which anybody can compute. */
  function forged(value: string | Buffer): string {
    const cursor = Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 1]), Buffer.from(value)]);
    const checksums = Buffer.alloc(8);
    checksums.writeUInt32BE(crc32(cursor));
    checksums.writeUInt32BE(crc32(URL, crc32(cursor)), 4);
    return Buffer.concat([cursor, checksums]).toString('base64url');
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
    expect(read(forged(valid), '', type)).toMatchObject({ id: 1n });
    expect(read(forged(invalid), '', type)).toBeUndefined();
  });

  it('with a valid checksum is rejected with bytes that are not UTF-8, and with more than 1,024 bytes', () => {
    expect(read(forged(Buffer.from([0xff])), '', 'text')).toBeUndefined();
    expect(read(forged('x'.repeat(1024)), '', 'text')).toMatchObject({ value: 'x'.repeat(1024), id: 1n });
    expect(read(forged('x'.repeat(1025)), '', 'text')).toBeUndefined();
  });

  it('cannot have a longer text', () => {
    const at: Position = { value: 'é'.repeat(513), id: 7n };
    expect(() => encodeCursor(at, URL, '')).toThrow('A text that orders a list must have at most 1024 bytes, but that of 7 is longer.');
  });
});
