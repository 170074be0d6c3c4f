import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  INT64_MAX,
  INT64_MIN,
  INT64_RULE,
  int64FromJsonNumber,
  isInt64,
  isUtcTime,
  isVisibleText,
  parseInt64,
  parseUtcTime,
  VISIBLE_TEXT_PATTERN,
  visibleTextRule,
} from './value-rules.js';

const int64 = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
const edges = [
  0n,
  1n,
  -1n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  -(2n ** 53n) - 1n,
  INT64_MAX,
  INT64_MAX - 1n,
  INT64_MIN,
  INT64_MIN + 1n,
];

it('INT64_MIN and INT64_MAX are the bounds of signed 64-bit integers, which INT64_RULE contains', () => {
  expect([INT64_MIN, INT64_MAX]).toEqual([-9223372036854775808n, 9223372036854775807n]);
  expect(INT64_RULE).toBe(`must be an integer from ${String(INT64_MIN)} to ${String(INT64_MAX)}`);
});

describe('isInt64', () => {
  it('is true only for bigints in the range', () => {
    for (const value of edges) expect(isInt64(value)).toBe(true);
    for (const value of [INT64_MIN - 1n, INT64_MAX + 1n, 7, '7', null, undefined]) expect(isInt64(value)).toBe(false);
  });
});

describe('parseInt64', () => {
  it('parses every int64 from its canonical text', () => {
    fc.assert(
      fc.property(int64, (value) => parseInt64(String(value)) === value),
      { examples: edges.map((value) => [value]) },
    );
  });

  it.each([
    ...['', '-', '+1', '01', '1.0', '1e3', ' 1', '0x1', '1n', '٣', '9223372036854775808', '-9223372036854775809', '9'.repeat(5000)],
  ])('rejects %j', (text) => expect(parseInt64(text)).toBeUndefined());

  it('parses minus zero as zero', () => expect(parseInt64('-0')).toBe(0n));
});

describe('int64FromJsonNumber', () => {
  it('parses every int64 from its digits', () => {
    fc.assert(
      fc.property(int64, (value) => int64FromJsonNumber(String(value)) === value),
      { examples: edges.map((value) => [value]) },
    );
  });

  it('parses every notation of an integer to the same value', () => {
    fc.assert(
      fc.property(int64, fc.nat(30), fc.nat(30), (value, zeros, shift) => {
        const sign = value < 0n ? '-' : '';
        const digits = (value < 0n ? -value : value).toString();
        expect(int64FromJsonNumber(`${value}.${'0'.repeat(zeros + 1)}`)).toBe(value);
        expect(int64FromJsonNumber(`${value}${value === 0n ? '' : '0'.repeat(shift)}e-${shift}`)).toBe(value);
        expect(int64FromJsonNumber(`${sign}0.${'0'.repeat(shift)}${digits}E+${shift + digits.length}`)).toBe(value);
      }),
    );
  });

  it('rejects numbers that are not integers, however close', () => {
    fc.assert(fc.property(int64, fc.nat(400), (value, zeros) => int64FromJsonNumber(`${value}.${'0'.repeat(zeros)}1`) === undefined));
  });

  it.each([
    ...['9223372036854775808', '-9223372036854775809', '1e19', '1e999999999', '1e-999999999', '7.5', '5e-1', '1E400'],
    ...['', '-', '.5', '1.', '01', '+1', 'NaN', 'Infinity', '0x10', '1_000'],
  ])('rejects %j', (text) => expect(int64FromJsonNumber(text)).toBeUndefined());

  it.each([
    ['-0', 0n],
    ['0.000', 0n],
    ['0e999999999', 0n],
    ['7.0', 7n],
    ['7e0', 7n],
    ['70e-1', 7n],
    ['9223372036854775807.0', INT64_MAX],
    ['-9223372036854775808e0', INT64_MIN],
  ])('parses %j as %s', (text, value) => expect(int64FromJsonNumber(text)).toBe(value));

  it('takes linear time in the length of the text', () => {
    const zeros = '0'.repeat(60_000);
    expect(int64FromJsonNumber(`1${zeros}e-60000`)).toBe(1n);
    expect(int64FromJsonNumber(`0.${zeros}1e60001`)).toBe(1n);
    expect(int64FromJsonNumber(`1e${'9'.repeat(60_000)}`)).toBeUndefined();
  });
});

const MAX_LENGTH = 255;
const isVisible = (text: unknown) => isVisibleText(text, MAX_LENGTH);

/** Any code point, also a lone surrogate. fast-check's unit `binary` takes more than a second to build. */
const codePoint = fc.nat(0x10_ffff).map((code) => String.fromCodePoint(code));

describe('isVisibleText', () => {
  it('accepts any well-formed text of 1 to 255 code points with a visible one', () => {
    const visible = fc
      .string({ unit: codePoint, minLength: 1, maxLength: 255 })
      .filter((text) => text.isWellFormed() && !text.includes('\0') && text.trim() !== '' && /\P{White_Space}/u.test(text));
    fc.assert(fc.property(visible, isVisible));
  });

  it('counts code points, not UTF-16 units', () => {
    expect(isVisible('🐕'.repeat(255))).toBe(true);
    expect(isVisible('🐕'.repeat(256))).toBe(false);
    expect(isVisible('x'.repeat(255))).toBe(true);
    expect(isVisible('x'.repeat(256))).toBe(false);
    expect(isVisible(`${'🐕'.repeat(254)}xx`)).toBe(false);
  });

  it.each(['', 'u'])('accepts the characters that the pattern in the OpenAPI document allows with the flags "%s"', (flags) => {
    const pattern = new RegExp(VISIBLE_TEXT_PATTERN, flags);
    const character = fc.oneof(
      fc.constantFrom('\t', ' ', '\u0085', '\u00a0', '\u1680', '\u2003', '\u2028', '\u3000', '\u180e', '\u200b', '\ufeff'),
      fc.constantFrom('\0', '\u0001', 'x', 'é', '🐕', '\ud83d', '\udc15'),
      codePoint,
    );
    const text = fc.array(character, { maxLength: 4 }).map((characters) => characters.join(''));
    const around = fc.integer({ min: 253, max: 256 }).chain((length) => text.map((end) => '🐕'.repeat(length) + end));
    fc.assert(
      fc.property(fc.oneof(text, around), (name) => {
        const codePoints = Array.from(name).length;
        const isAllowed = pattern.test(name) && name.isWellFormed() && codePoints <= MAX_LENGTH;
        expect(isVisible(name)).toBe(isAllowed);
        // The documented rule.
        expect(isAllowed).toBe(codePoints <= MAX_LENGTH && /\P{White_Space}/u.test(name) && !name.includes('\0') && name.isWellFormed());
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['', ' ', '\t\n\r', '\u0085\u00a0\u1680\u2003\u2028\u202f\u205f\u3000', 'a\0b', '\ud800', 'Rex\udc00', 7, null, undefined, {}])(
    'rejects %j',
    (value) => expect(isVisible(value)).toBe(false),
  );

  it('accepts surrounding white space, and U+FEFF, which is not white space', () => {
    expect(isVisible('  Rex ')).toBe(true);
    expect(isVisible('\ufeff')).toBe(true);
  });
});

it('visibleTextRule names the greatest length', () => {
  expect(visibleTextRule(7)).toMatch(/^must be a string of 1 to 7 characters, not only white space/);
});

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
    ['no separator', '2026-05-17 09:30:00Z'],
    ['an offset whose + became a space in a query string', '2026-05-17T09:30:00 02:00'],
    ['an offset of a day', '2026-05-17T09:30:00+24:00'],
    ['a microsecond', '2026-05-17T09:30:00.000001Z'],
    ['no digits after the point', '2026-05-17T09:30:00.Z'],
    ['24:00', '2026-05-17T24:00:00Z'],
    ['a leap second', '2016-12-31T23:59:60Z'],
    ['29 February of a common year', '2100-02-29T09:30:00Z'],
    ['month 13', '2026-13-01T09:30:00Z'],
    ['year 0', '0000-12-31T23:59:59.999Z'],
    ['year 0 after conversion to UTC', '0001-01-01T00:00:00+00:01'],
    ['year 10000', '10000-01-01T00:00:00Z'],
    ['year 10000 after conversion to UTC', '9999-12-31T23:59:59.999-00:01'],
    ['a line break', '2026-05-17T09:30:00Z\n'],
  ])('rejects %s', (_what, text) => expect(parseUtcTime(text)).toBeUndefined());
});

it('isUtcTime accepts the Dates of the years 1 to 9999', () => {
  fc.assert(fc.property(time, isUtcTime));
  for (const other of [new Date(Date.parse(FIRST) - 1), new Date(Date.parse(LAST) + 1), new Date(NaN), FIRST, 0, null, undefined])
    expect(isUtcTime(other)).toBe(false);
});
