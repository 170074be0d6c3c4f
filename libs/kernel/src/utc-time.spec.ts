import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isUtcTime, parseUtcTime } from './utc-time.js';

const FIRST = '0001-01-01T00:00:00.000Z';
const LAST = '9999-12-31T23:59:59.999Z';
const time = fc.date({ min: new Date(FIRST), max: new Date(LAST), noInvalidDate: true });
const twoDigits = (value: number) => String(value).padStart(2, '0');

/** Returns the text of a time at an offset, with the milliseconds and zeros after them, or without both if there are none. */
function textOf(at: Date, offset: number, zeros: number | undefined): string {
  const local = new Date(at.getTime() + offset * 60_000).toISOString();
  const milliseconds = zeros === undefined && local.endsWith('.000Z') ? '' : local.slice(-5, -1) + '0'.repeat(zeros ?? 0);
  const minutes = Math.abs(offset);
  return `${local.slice(0, -5)}${milliseconds}${offset < 0 ? '-' : '+'}${twoDigits(Math.trunc(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

describe('parseUtcTime', () => {
  it('parses each time of the years 1 to 9999 exactly, at each offset and with zeros after the milliseconds', () => {
    const offset = fc.integer({ min: -1439, max: 1439 });
    fc.assert(
      fc.property(time, offset, fc.option(fc.nat(6), { nil: undefined }), (at, minutes, zeros) => {
        expect(parseUtcTime(at.toISOString())).toEqual(at);
        // An offset may move a time out of the years that `toISOString` writes with four digits.
        const local = new Date(at.getTime() + minutes * 60_000).getUTCFullYear();
        fc.pre(local >= 0 && local <= 9999);
        expect(parseUtcTime(textOf(at, minutes, zeros))).toEqual(at);
      }),
    );
  });

  it.each([
    ['2026-05-17T09:30:00Z', '2026-05-17T09:30:00.000Z'],
    ['2026-05-17t09:30:00.5z', '2026-05-17T09:30:00.500Z'],
    ['2026-05-17T09:30:00.12-00:00', '2026-05-17T09:30:00.120Z'],
    ['2026-05-17T09:30:00.123000000Z', '2026-05-17T09:30:00.123Z'],
    ['2024-02-29T23:59:59.999+23:59', '2024-02-29T00:00:59.999Z'],
    [FIRST, FIRST],
    ['0000-12-31T23:30:00-00:30', FIRST],
    [LAST, LAST],
  ])('parses %s as %s', (text, expected) => expect(parseUtcTime(text)?.toISOString()).toBe(expected));

  it.each([
    ['no time', '2026-05-17'],
    ['no offset', '2026-05-17T09:30:00'],
    ['no seconds', '2026-05-17T09:30Z'],
    ['no separator', '2026-05-17 09:30:00Z'],
    ['an offset without a colon', '2026-05-17T09:30:00+0200'],
    ['an offset whose + became a space in a query string', '2026-05-17T09:30:00 02:00'],
    ['an offset of a day', '2026-05-17T09:30:00+24:00'],
    ['a microsecond', '2026-05-17T09:30:00.000001Z'],
    ['no digits after the point', '2026-05-17T09:30:00.Z'],
    ['a comma', '2026-05-17T09:30:00,5Z'],
    ['24:00', '2026-05-17T24:00:00Z'],
    ['a leap second', '2016-12-31T23:59:60Z'],
    ['30 February', '2026-02-30T09:30:00Z'],
    ['29 February of a common year', '2100-02-29T09:30:00Z'],
    ['month 13', '2026-13-01T09:30:00Z'],
    ['day 0', '2026-05-00T09:30:00Z'],
    ['day 32', '2026-05-32T09:30:00Z'],
    ['year 0', '0000-12-31T23:59:59.999Z'],
    ['year 0 after conversion to UTC', '0001-01-01T00:00:00+00:01'],
    ['year 10000', '10000-01-01T00:00:00Z'],
    ['year 10000 after conversion to UTC', '9999-12-31T23:59:59.999-00:01'],
    ['a signed year', '+002026-05-17T09:30:00Z'],
    ['a line break', '2026-05-17T09:30:00Z\n'],
    ['nothing', ''],
  ])('rejects %s', (_what, text) => expect(parseUtcTime(text)).toBeUndefined());
});

it('isUtcTime accepts the Dates of the years 1 to 9999', () => {
  fc.assert(fc.property(time, isUtcTime));
  for (const other of [new Date(Date.parse(FIRST) - 1), new Date(Date.parse(LAST) + 1), new Date(NaN), FIRST, 0, null, undefined])
    expect(isUtcTime(other)).toBe(false);
});
