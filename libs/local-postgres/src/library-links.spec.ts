import { mkdir, mkdtemp, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLibraryLinks } from './library-links.js';
import { LocalPostgresError } from './local-postgres-error.js';

const LINKS = ['libicuuc.so', 'libicuuc.so.60'].map((name) => ({ source: 'native/lib/libicuuc.so.60.2', target: `native/lib/${name}` }));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'library links #%41-'));
  await mkdir(join(folder, 'native/lib'), { recursive: true });
  await writeFile(join(folder, 'native/lib/libicuuc.so.60.2'), 'library');
});
afterEach(() => rm(folder, { recursive: true }));

describe('createLibraryLinks', () => {
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
