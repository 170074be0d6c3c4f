import { mkdir, mkdtemp, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { asDataFolderError, findErrorMessage, LocalPostgresError } from './local-postgres-error.js';
import { checkProgramFolder, createLibraryLinks } from './programs.js';

it.each(['"', '$', '`', '\\', '\n'])('PostgreSQL cannot run in a folder with %j in its path', (character) => {
  expect(() => checkProgramFolder(`/my ${character} store`)).toThrow(LocalPostgresError);
  expect(() => checkProgramFolder(`/my ${character} store`)).toThrow(/^PostgreSQL cannot run in a folder with .* Move the workspace\.$/);
});

it('PostgreSQL can run in a folder with other special characters in its path', () => {
  const folder = "/a b #%41?'[ü](x){y},z&;w";
  expect(checkProgramFolder(folder)).toBe(folder);
});

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

const LINKS = ['libicuuc.so', 'libicuuc.so.60'].map((name) => ({ source: 'native/lib/libicuuc.so.60.2', target: `native/lib/${name}` }));

describe('createLibraryLinks', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'library links #%41-'));
    await mkdir(join(folder, 'native/lib'), { recursive: true });
    await writeFile(join(folder, 'native/lib/libicuuc.so.60.2'), 'library');
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('creates the links that are missing, also if several processes do', async () => {
    await writeFile(join(folder, 'native/pg-symlinks.json'), JSON.stringify(LINKS));
    await symlink('libicuuc.so.60.2', join(folder, 'native/lib/libicuuc.so'));
    await Promise.all([createLibraryLinks(folder), createLibraryLinks(folder)]);
    for (const { target } of LINKS) expect(await readFile(join(folder, target), 'utf8')).toBe('library');
    expect(await readlink(join(folder, 'native/lib/libicuuc.so.60'))).toBe('libicuuc.so.60.2');
  });

  it('creates nothing if the package needs no links', async () => {
    await expect(createLibraryLinks(folder)).resolves.toBeUndefined();
  });

  it('names the library if the link cannot be created', async () => {
    await writeFile(join(folder, 'native/pg-symlinks.json'), JSON.stringify([{ source: 'native/lib/a', target: 'native/missing/a.so' }]));
    await expect(createLibraryLinks(folder)).rejects.toThrow(LocalPostgresError);
    await expect(createLibraryLinks(folder)).rejects.toThrow(
      /^A library of PostgreSQL is missing, .*missing\/a\.so.*Run "npm ci" again\.$/,
    );
  });
});
