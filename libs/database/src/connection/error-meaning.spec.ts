import { describe, expect, it } from '@jest/globals';
import { QueryFailedError, QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { isDatabaseUnavailable } from './error-meaning.js';

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
