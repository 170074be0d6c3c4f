import { describe, expect, it } from '@jest/globals';
import { types } from 'pg';
import { exactTypes, parseTime } from './value-types.js';

const { BOOL, DATE, INT4, INT8, TIMESTAMPTZ } = types.builtins;
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
      [DATE, 'text'],
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
});
