import { describe, expect, it } from '@jest/globals';
import { types } from 'pg';
import { exactTypes, parseTime } from './value-types.js';

const { BOOL, DATE, INT4, INT8, TIMESTAMP, TIMESTAMPTZ } = types.builtins;
const TIMESTAMPTZ_ARRAY = 1185;
const parserOf = (oid: number, format?: 'text' | 'binary') => (exactTypes.getTypeParser as (...args: unknown[]) => unknown)(oid, format);
const parse = (oid: number, text: string) => (parserOf(oid, 'text') as (text: string) => unknown)(text);

describe('the type parsers', () => {
  it('read int8 as bigint, and other types as `pg` does', () => {
    expect(parse(INT8, '9223372036854775807')).toBe(2n ** 63n - 1n);
    expect((parserOf(INT8) as (text: string) => unknown)('-1')).toBe(-1n);
    for (const [oid, format] of [
      [INT4, 'text'],
      [INT4, 'binary'],
      [INT8, 'binary'],
      [TIMESTAMPTZ, 'binary'],
      [BOOL, 'text'],
    ] as const)
      expect(parserOf(oid, format)).toBe(types.getTypeParser(oid, format));
  });

  it.each([
    ['2026-11-26 12:38:59.627+00', '2026-11-26T12:38:59.627Z'],
    ['2026-11-26 12:38:59.627123+00', '2026-11-26T12:38:59.627Z'],
    ['2026-11-26T12:38:59Z', '2026-11-26T12:38:59.000Z'],
    ['2026-11-26 18:08:59.627+05:30', '2026-11-26T12:38:59.627Z'],
    ['2026-11-26 04:38:59-08', '2026-11-26T12:38:59.000Z'],
    ['0001-01-01 00:00:00+00', '0001-01-01T00:00:00.000Z'],
    ['0099-12-31 00:00:00+00', '0099-12-31T00:00:00.000Z'],
    ['12000-01-01 00:00:00+00', '+012000-01-01T00:00:00.000Z'],
    ['275760-09-13 00:00:00+00', '+275760-09-13T00:00:00.000Z'],
  ])('read the time %s', (text, iso) => {
    expect(parseTime(text).toISOString()).toBe(iso);
    expect(parse(TIMESTAMPTZ, text)).toEqual(new Date(iso));
  });

  it.each([
    ...['infinity', '-infinity', '0044-03-15 00:00:00+00 BC', '275760-09-14 00:00:00+00', '294276-12-31 23:59:59+00'],
    ...['26.11.2026 12:38:59.627 UTC', '11/26/2026 12:38:59 UTC', 'Thu Nov 26 12:38:59 2026 UTC', '2026-11-26 12:38:59', ''],
  ])('read the time %j as an invalid Date, not as null', (text) => {
    expect(String(parse(TIMESTAMPTZ, text))).toBe('Invalid Date');
  });

  it('read a date, and a time without a zone, in the zone of the process, or as an invalid Date', () => {
    // Compared as text, because `pg` has a Date of another realm.
    expect(String(parse(DATE, '2026-11-26'))).toBe(String(new Date(2026, 10, 26)));
    expect(String(parse(TIMESTAMP, '2026-11-26 12:38:59'))).toBe(String(new Date(2026, 10, 26, 12, 38, 59)));
    for (const oid of [DATE, TIMESTAMP])
      for (const text of ['infinity', '-infinity', '26.11.2026', 'Thu Nov 26 12:38:59 2026'])
        expect(String(parse(oid, text))).toBe('Invalid Date');
  });

  it('read the elements of an array in the same way', () => {
    const texts = (text: string) => (parse(TIMESTAMPTZ_ARRAY, text) as unknown[]).map(String);
    expect(texts('{infinity,NULL,"2026-11-26 12:38:59+00"}')).toEqual(['Invalid Date', 'null', String(new Date('2026-11-26T12:38:59Z'))]);
    expect(texts('{{infinity,infinity},{infinity,infinity}}')).toEqual(Array(2).fill('Invalid Date,Invalid Date'));
  });
});
