import { describe, expect, it } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import { isDatabaseUnavailable, isFaultOfStatement } from './database-unavailable.js';

const withCode = (code: string) => Object.assign(new Error(code), { code });

describe('isDatabaseUnavailable', () => {
  it.each([
    withCode('ECONNREFUSED'),
    withCode('57P01'),
    new Error('Connection terminated unexpectedly'),
    new AggregateError([withCode('EHOSTUNREACH'), withCode('ECONNREFUSED')]),
    new QueryFailedError('SELECT 1', [], withCode('53300')),
    new Error('failed', { cause: withCode('40001') }),
  ])('of %o is true', (error) => {
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  it.each([withCode('23505'), new Error('a bug'), new AggregateError([new Error('a bug')]), 'ECONNREFUSED', undefined])(
    'of %o is false',
    (error) => {
      expect(isDatabaseUnavailable(error)).toBe(false);
    },
  );
});

describe('isFaultOfStatement', () => {
  it('is true of values and constraints alone', () => {
    expect(['22001', '23514', '57014', '42P01'].map((code) => isFaultOfStatement(withCode(code)))).toEqual([true, true, false, false]);
    expect(isFaultOfStatement(new Error('a bug'))).toBe(false);
  });
});
