import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { INT64_MAX, INT64_MIN, INT64_RULE, int64FromJsonNumber, isInt64, parseInt64 } from './int64.js';

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

it('INT64_MIN and INT64_MAX are the bounds of signed 64-bit integers', () => {
  expect([INT64_MIN, INT64_MAX]).toEqual([-9223372036854775808n, 9223372036854775807n]);
});

it('INT64_RULE contains the range', () => {
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
    '',
    '-',
    '+1',
    '01',
    '-01',
    '1.0',
    '1e3',
    ' 1',
    '1 ',
    '0x1',
    '1n',
    '٣',
    '9223372036854775808',
    '-9223372036854775809',
    '9'.repeat(5000),
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
    '9223372036854775808',
    '-9223372036854775809',
    '1e19',
    '1e999999999',
    '1e-999999999',
    '7.5',
    '5e-1',
    '1E400',
    '',
    '-',
    '.5',
    '1.',
    '01',
    '+1',
    'NaN',
    'Infinity',
    '0x10',
    '1_000',
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
