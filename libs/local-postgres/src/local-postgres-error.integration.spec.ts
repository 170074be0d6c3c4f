import { access, chmod, chown, mkdir, mkdtemp, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findAccount } from './account.js';
import { LocalPostgresError } from './local-postgres-error.js';
import { startLocalPostgres } from './local-postgres.js';

let temporary: string;
/** Contains only what PostgreSQL checks before it opens its data. */
let dataDir: string;

beforeAll(async () => {
  temporary = await realpath(await mkdtemp(join(tmpdir(), 'local-postgres-')));
  dataDir = join(temporary, 'data');
  await mkdir(postgresFolder(), { recursive: true });
  await writeFile(join(dataDir, 'postgres-password'), 'any\n');
  await writeFile(join(postgresFolder(), 'PG_VERSION'), '17\n');
  await writeFile(join(postgresFolder(), 'postgresql.conf'), '');
  await chmod(postgresFolder(), 0o700);
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await findAccount(dataDir);
  for (const folder of [dataDir, postgresFolder()]) await chown(folder, uid, gid);
});
afterAll(() => rm(temporary, { recursive: true, force: true }));

const postgresFolder = () => join(dataDir, 'postgres');

describe('reports a problem in one line', () => {
  const problem = async (folder: string): Promise<string> => {
    const error: unknown = await startLocalPostgres({ dataDir: folder }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LocalPostgresError);
    expect((error as Error).message).not.toContain('\n');
    return (error as Error).message;
  };

  it('if the folder cannot be created', async () => {
    const file = join(temporary, 'file');
    await writeFile(file, '');
    expect(await problem(file)).toBe(`The data folder ${file} cannot be used: EEXIST: file already exists, mkdir '${file}'.`);
    const below = join(file, 'any', 'data');
    expect(await problem(below)).toBe(`The data folder ${below} cannot be used: ENOTDIR: not a directory, mkdir '${below}'.`);
  });

  it('if the path of the folder has a line break', async () => {
    const folder = join(temporary, 'two\nlines');
    expect(await problem(folder)).toBe(`The data folder ${JSON.stringify(folder)} cannot be used: it contains a line break.`);
    await expect(access(folder)).rejects.toThrow();
  });

  it('if the database has another version', async () => {
    expect(await problem(dataDir)).toMatch(
      /^PostgreSQL did not start: database files are incompatible with server\. .* version 17, .* 18\./,
    );
  });

  it('if the folder contains something else', async () => {
    const other = join(temporary, 'other');
    await mkdir(join(other, 'postgres'), { recursive: true });
    await writeFile(join(other, 'postgres-password'), 'any');
    await writeFile(join(other, 'postgres', 'holiday.jpg'), '');
    expect(await problem(other)).toMatch(/^PostgreSQL did not start: postgres: could not access .*postgresql\.conf.*\. See /);
    expect(await readdir(join(other, 'postgres'))).toEqual(['holiday.jpg']);
  });

  it('if the password is missing', async () => {
    const file = join(dataDir, 'postgres-password');
    await rename(file, `${file}.lost`);
    expect(await problem(dataDir)).toBe(`The data folder ${dataDir} cannot be used: ENOENT: no such file or directory, open '${file}'.`);
    await rename(`${file}.lost`, file);
  });

  it('if PostgreSQL does not start', async () => {
    await writeFile(join(postgresFolder(), 'postgresql.conf'), "work_mem = 'nonsense'\n");
    expect(await problem(dataDir)).toMatch(/^PostgreSQL did not start: .*postgresql\.conf.*\. See .*postgres\.log\.$/);
  });

  it('if there is no PostgreSQL for the platform', async () => {
    const { arch } = process;
    Object.defineProperty(process, 'arch', { value: 'riscv64' });
    try {
      expect(await problem(join(temporary, 'unsupported'))).toMatch(
        /^There is no PostgreSQL for \w+-riscv64 in node_modules: .*DATABASE_URL/,
      );
    } finally {
      Object.defineProperty(process, 'arch', { value: arch });
    }
    await access(join(temporary, 'unsupported'));
  });
});
