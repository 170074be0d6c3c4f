import { describe, expect, it } from '@jest/globals';
import { DatabaseError } from 'pg';
import { QueryFailedError, QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { connectError, isDatabaseUnavailable } from './error-meaning.js';

const coded = (code: string, message = code) => Object.assign(new Error(message), { code });
const group = (...errors: Error[]) => new AggregateError(errors);

// error-table.spec.ts has every code.
describe('isDatabaseUnavailable', () => {
  it.each([
    Object.assign(coded('ECONNREFUSED'), { syscall: 'connect' }),
    Object.assign(coded('ENOENT'), { syscall: 'connect', address: '/x' }),
    Object.assign(coded('ENOTFOUND'), { syscall: 'getaddrinfo' }),
    Object.assign(coded('ENOBUFS'), { syscall: 'write' }),
    coded('ECONNRESET'),
    group(new Error('a bug'), coded('ETIMEDOUT')),
    new QueryFailedError('SELECT 1', [], coded('53300')),
    new QueryRunnerAlreadyReleasedError(),
    new QueryRunnerProviderAlreadyReleasedError(),
    new Error('failed', { cause: coded('40001') }),
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

it('connectError makes every failure to connect an unavailable database', () => {
  const ofServer = (code: string) => Object.assign(new DatabaseError('no', 1, 'error'), { code });
  for (const error of ['57P03', '28P01', '42501'].map(ofServer)) expect(connectError(error)).toBe(error);
  for (const error of [ofServer('XX000'), ofServer('22023'), new Error('SASL: no password'), coded('EINVAL')])
    expect(connectError(error)).toMatchObject({ code: '08001', message: error.message, cause: error });
});
