import { describe, expect, it } from '@jest/globals';
import { DatabaseError } from 'pg';
import { QueryFailedError, QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { connectError, isDatabaseUnavailable, isNamedStatementLost, mayRecover } from './database-unavailable.js';

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
    new QueryRunnerProviderAlreadyReleasedError(),
    new Error('failed', { cause: withCode('40001') }),
  ])('of %o is true', (error) => {
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  it('finds the code of an error in any language', () => {
    const error = Object.assign(new Error('la sentencia preparada no existe'), { code: '26000', severity: 'ERROR' });
    expect(isDatabaseUnavailable(error)).toBe(true);
    expect(isDatabaseUnavailable(Object.assign(new Error('Connection terminated'), { code: '42601' }))).toBe(false);
  });

  it('is false for errors of files and of the own port', () => {
    expect(isDatabaseUnavailable(Object.assign(withCode('ENOENT'), { syscall: 'open', path: '/x' }))).toBe(false);
    expect(isDatabaseUnavailable(Object.assign(withCode('EACCES'), { syscall: 'listen' }))).toBe(false);
    expect(isDatabaseUnavailable(Object.assign(withCode('ENOENT'), { syscall: 'connect', address: '/x' }))).toBe(true);
    expect(isDatabaseUnavailable(Object.assign(withCode('EMFILE'), { syscall: 'open', path: '/x' }))).toBe(true);
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
    withCode('57P05'),
    withCode('55P03'),
    withCode('EMFILE'),
    Object.assign(new AggregateError([withCode('08001'), withCode('ECONNREFUSED')]), { code: '08001' }),
    new Error('the connection that holds the migration lock is lost', { cause: withCode('57P01') }),
  ])('of %o is true', (error) => {
    expect(mayRecover(error)).toBe(true);
  });

  it.each([
    coded('08001', 'the server does not support TLS, which sslmode requires'),
    coded('08001', 'the connection URL must be a postgres:// URL'),
    coded('08P01', 'unsupported startup parameter: statement_timeout'),
    coded('08P01', 'unsupported startup parameter in options: statement_timeout'),
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
    coded('26000', 'la sentencia preparada no existe'),
    coded('08P01', 'prepared statement did not exist'),
    coded('08P01', 'prepared statement name is already in use'),
  ])('of %o is true', (error) => {
    expect(isNamedStatementLost(error)).toBe(true);
  });

  it.each([
    coded('08P01', 'unsupported startup parameter: statement_timeout'),
    coded('08P01', 'my prepared statement did not exist'),
    coded('42P01', 'x'),
    new Error('prepared statement'),
    undefined,
  ])('of %o is false', (error) => {
    expect(isNamedStatementLost(error)).toBe(false);
  });
});

it('connectError makes every failure to connect an unavailable database', () => {
  const ofServer = (code: string) => Object.assign(new DatabaseError('no', 1, 'error'), { code });
  const codes = ['57P03', '28P01', '42501', '55000', 'XX000', 'F0000', '57014', '22023', '42704'].map((code) =>
    connectError(ofServer(code)),
  );
  expect(codes.map((error) => (error as { code: string }).code)).toEqual([
    ...['57P03', '28P01'],
    ...['28000', '28000', '28000', '28000', '28000'],
    ...['08001', '08001'],
  ]);
  expect(codes.map(mayRecover)).toEqual([true, true, true, true, true, true, true, false, false]);
  for (const error of [new Error('SASL: no password'), withCode('EINVAL')])
    expect(connectError(error)).toMatchObject({ code: '08001', message: error.message, cause: error });
});
