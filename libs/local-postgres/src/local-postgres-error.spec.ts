import { describe, expect, it } from '@jest/globals';
import { asDataFolderError, findErrorMessage, LocalPostgresError } from './local-postgres-error.js';

describe('asDataFolderError', () => {
  const fault = (message: string, path?: string) =>
    Object.assign(new Error(message), { code: message.split(':')[0], ...(path && { path }) });

  it('turns a file system error into one line about the folder', () => {
    const error = fault("EROFS: read-only file system, open '/data/x'", '/data/x');
    expect(asDataFolderError('.data', error)).toEqual(
      new LocalPostgresError("The data folder .data cannot be used: EROFS: read-only file system, open '/data/x'."),
    );
  });

  it.each([
    ['a network error', fault('ECONNREFUSED: it failed')],
    ['a bug', new TypeError('a bug')],
    ['a LocalPostgresError', new LocalPostgresError('a message')],
    ['what is no error', 'text'],
  ])('returns %s unchanged', (_case, error) => {
    expect(asDataFolderError('.data', error)).toBe(error);
  });
});

describe('findErrorMessage', () => {
  it.each([
    [
      'the last error of the server with its detail and hint',
      '2026-11-21 [7] LOG:  starting\n2026-11-21 [7] FATAL:  it failed\n2026-11-21 [7] DETAIL:  A reason.\n2026-11-21 [7] HINT:  Do this.\n2026-11-21 [7] LOG:  shut down\n',
      'it failed. A reason. Do this.',
    ],
    ['the error of a program', 'initdb: error: no space\n', 'no space.'],
    ['the last line if there is no error', 'setpriv: failed to execute postgres\n', 'setpriv: failed to execute postgres.'],
    ['a note if there is no output', '', 'there is no error message.'],
  ])('returns %s', (_case, output, problem) => {
    expect(findErrorMessage(output)).toBe(problem);
  });
});
