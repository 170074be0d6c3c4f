import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ifThere } from './if-there.js';
import { asDataFolderError, LocalPostgresError } from './local-postgres-error.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'local-postgres-error-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('ifThere', () => {
  it('gives what is read, undefined for what is not there, and the error of what cannot be read', async () => {
    expect(await ifThere(readFile(import.meta.filename, 'utf8'))).toContain('ifThere');
    expect(await ifThere(readFile(join(folder, 'missing')))).toBeUndefined();
    await expect(ifThere(readFile(folder))).rejects.toMatchObject({ code: 'EISDIR' });
  });
});

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
