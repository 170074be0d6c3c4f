import { describe, expect, it } from '@jest/globals';
import { DatabaseError } from 'pg';
import { QueryFailedError, QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { connectError, isDatabaseUnavailable, isNamedStatementLost, mayRecover } from './error-meaning.js';

const coded = (code: string, message = code) => Object.assign(new Error(message), { code });
const group = (...errors: Error[]) => new AggregateError(errors);

// error-table.spec.ts has every code.
describe('isDatabaseUnavailable', () => {
  it.each([
    group(coded('EHOSTUNREACH'), coded('ECONNREFUSED')),
    group(new Error('a bug'), coded('ECONNREFUSED')),
    new QueryFailedError('SELECT 1', [], coded('53300')),
    new QueryRunnerAlreadyReleasedError(),
    new QueryRunnerProviderAlreadyReleasedError(),
    new Error('failed', { cause: coded('40001') }),
    Object.assign(coded('ENOENT'), { syscall: 'connect', address: '/x' }),
    // This process lacks descriptors.
    Object.assign(coded('EMFILE'), { syscall: 'open', path: '/x' }),
  ])('of %o is true', (error) => {
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  it.each([
    coded('42601', 'Connection terminated'),
    new Error('a bug'),
    group(new Error('a bug')),
    Object.assign(coded('ENOENT'), { syscall: 'open', path: '/x' }),
    // An error of the own port.
    Object.assign(coded('EACCES'), { syscall: 'listen' }),
    'ECONNREFUSED',
    undefined,
  ])('of %o is false', (error) => {
    expect(isDatabaseUnavailable(error)).toBe(false);
  });
});

describe('mayRecover', () => {
  it.each([
    new Error('Connection terminated due to connection timeout'),
    coded('08P01', 'pgbouncer cannot connect to server'),
    Object.assign(group(coded('08001'), coded('ECONNREFUSED')), { code: '08001' }),
    new Error('the connection that holds the migration lock is lost', { cause: coded('57P01') }),
  ])('of %o is true', (error) => {
    expect(mayRecover(error)).toBe(true);
  });

  it.each([
    coded('08P01', 'unsupported startup parameter: statement_timeout'),
    coded('08P01', 'unsupported startup parameter in options: statement_timeout'),
    new QueryFailedError('SELECT 1', [], coded('08P01', 'unsupported startup parameter: statement_timeout')),
    Object.assign(group(coded('08001'), coded('08001')), { code: '08001' }),
    new Error('failed', { cause: coded('57014') }),
    coded('42501'),
    new Error('a bug'),
    undefined,
  ])('of %o is false', (error) => {
    expect(mayRecover(error)).toBe(false);
  });
});

it.each([
  [coded('26000', 'la sentencia preparada no existe'), true],
  [coded('08P01', 'prepared statement did not exist'), true],
  [coded('08P01', 'prepared statement name is already in use'), true],
  [coded('08P01', 'unsupported startup parameter: statement_timeout'), false],
  [coded('08P01', 'my prepared statement did not exist'), false],
  [new Error('prepared statement'), false],
  [undefined, false],
])('isNamedStatementLost of %o is %p', (error, expected) => {
  expect(isNamedStatementLost(error)).toBe(expected);
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
  for (const error of [new Error('SASL: no password'), coded('EINVAL')])
    expect(connectError(error)).toMatchObject({ code: '08001', message: error.message, cause: error });
});
