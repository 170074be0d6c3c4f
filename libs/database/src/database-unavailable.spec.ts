import { describe, expect, it } from '@jest/globals';
import { QueryFailedError, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { isLoginRejected, isDatabaseUnavailable, isRowError, isNamedStatementLost, mayRecover } from './database-unavailable.js';

const withCode = (code: string) => Object.assign(new Error(code), { code });

describe('isDatabaseUnavailable', () => {
  it.each([
    withCode('ECONNREFUSED'),
    withCode('57P01'),
    withCode('28P01'),
    withCode('3D000'),
    new Error('timeout expired'),
    Object.assign(new Error('prepared statement "x" already exists'), { code: '42P05' }),
    new Error('Connection terminated unexpectedly'),
    new AggregateError([withCode('EHOSTUNREACH'), withCode('ECONNREFUSED')]),
    new QueryFailedError('SELECT 1', [], withCode('53300')),
    new QueryRunnerAlreadyReleasedError(),
    new Error('failed', { cause: withCode('40001') }),
  ])('of %o is true', (error) => {
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  it.each([
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    'EADDRNOTAVAIL',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'ENOTFOUND',
    'EAI_AGAIN',
    'ENOENT',
  ])('of the system error %s is true', (code) => {
    expect(isDatabaseUnavailable(withCode(code))).toBe(true);
  });

  it.each(['08006', '53300', '57014', '57P01', '57P02', '57P03', '40001', '40P01', '25006', '58030'])('of SQLSTATE %s is true', (code) => {
    expect(isDatabaseUnavailable(withCode(code))).toBe(true);
  });

  it('is true if one of several servers is unavailable', () => {
    expect(isDatabaseUnavailable(new AggregateError([new Error('a bug'), withCode('ECONNREFUSED')]))).toBe(true);
  });

  it.each([withCode('23505'), new Error('a bug'), new AggregateError([new Error('a bug')]), 'ECONNREFUSED', undefined])(
    'of %o is false',
    (error) => {
      expect(isDatabaseUnavailable(error)).toBe(false);
    },
  );
});

describe('mayRecover', () => {
  const coded = (code: string, message: string) => Object.assign(new Error(message), { code });

  it.each([
    withCode('ECONNREFUSED'),
    withCode('57P03'),
    withCode('53300'),
    withCode('28P01'),
    withCode('3D000'),
    new Error('Connection terminated due to connection timeout'),
    coded('08P01', 'pgbouncer cannot connect to server'),
    Object.assign(new AggregateError([withCode('08001'), withCode('ECONNREFUSED')]), { code: '08001' }),
    new Error('the connection that holds the migration lock is lost', { cause: withCode('57P01') }),
  ])('of %o is true', (error) => {
    expect(mayRecover(error)).toBe(true);
  });

  it.each([
    coded('08001', 'the server does not support TLS, which sslmode requires'),
    coded('08001', 'the connection URL must be a postgres:// URL'),
    coded('08P01', 'unsupported startup parameter: statement_timeout'),
    new QueryFailedError('SELECT 1', [], coded('08P01', 'unsupported startup parameter: statement_timeout')),
    Object.assign(new AggregateError([withCode('08001'), withCode('08001')]), { code: '08001' }),
    new Error('failed', { cause: withCode('57014') }),
    withCode('42501'),
    new Error('a bug'),
    undefined,
  ])('of %o is false', (error) => {
    expect(mayRecover(error)).toBe(false);
  });
});

describe('isNamedStatementLost', () => {
  const coded = (code: string, message: string) => Object.assign(new Error(message), { code });

  it.each([
    coded('26000', 'prepared statement "list pets.pets" does not exist'),
    coded('42P05', 'prepared statement "list pets.pets" already exists'),
    coded('08P01', 'prepared statement did not exist'),
  ])('of %o is true', (error) => {
    expect(isNamedStatementLost(error)).toBe(true);
  });

  it.each([
    coded('08P01', 'unsupported startup parameter: statement_timeout'),
    coded('42P01', 'x'),
    new Error('prepared statement'),
    undefined,
  ])('of %o is false', (error) => {
    expect(isNamedStatementLost(error)).toBe(false);
  });
});

it('isLoginRejected is true for a rejected login and an unknown database', () => {
  expect(['28000', '28P01', '3D000', '57P03', 'ECONNREFUSED'].map((code) => isLoginRejected(withCode(code)))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});

describe('isRowError', () => {
  it('is true only for invalid values and violated constraints', () => {
    expect(['22001', '23514', '57014', '42P01'].map((code) => isRowError(withCode(code)))).toEqual([true, true, false, false]);
    expect(isRowError(new Error('a bug'))).toBe(false);
  });
});
