import { describe, expect, it } from '@jest/globals';
import { asDataFolderError, LocalPostgresError } from './local-postgres-error.js';

describe('asDataFolderError', () => {
  const fault = (code: string, path?: string) => Object.assign(new Error(`${code}: it failed`), { code, path });

  it.each([
    ['EROFS', '/data is on a read-only disk'],
    ['ENOSPC', 'ENOSPC: it failed'],
  ])('tells of %s in one line about the folder', (code, reason) => {
    const error = fault(code, '/data');
    expect(asDataFolderError('.data', error)).toEqual(new LocalPostgresError(`The data folder .data cannot be used: ${reason}.`));
  });

  it.each([fault('ECONNREFUSED'), new Error('a bug'), new LocalPostgresError('said already'), 'no error'])(
    'leaves %o as it is',
    (error) => {
      expect(asDataFolderError('.data', error)).toBe(error);
    },
  );
});
