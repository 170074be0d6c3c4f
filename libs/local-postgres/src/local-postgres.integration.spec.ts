import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { connectLocalPostgres, startLocalPostgres } from './local-postgres.js';
import { findErrorMessage, LocalPostgresError } from './local-postgres-error.js';
import { PostgresServer } from './postgres-server.js';
import { setprivCommand } from './programs.js';
import { query } from './testing/test-database.js';
import { waitFor } from './testing/wait-for.js';

const SETTINGS = `SELECT name, setting FROM pg_settings WHERE name = ANY
  ('{listen_addresses,unix_socket_directories,fsync,synchronous_commit,full_page_writes,server_encoding,lc_messages}') ORDER BY name`;

let temporary: string;
/** Shared by all specs, because creating a folder is slow. Its path has what shells interpret. */
let dataDir: string;

beforeAll(async () => {
  temporary = await realpath(await mkdtemp(join(tmpdir(), 'local-postgres-')));
  dataDir = join(temporary, `it's "$HOME" \`new\``, 'data');
});
afterEach(async () => (await PostgresServer.open(dataDir)).stop());
afterAll(() => rm(temporary, { recursive: true, force: true }));

const isStopped = async () => !(await readdir(join(dataDir, 'postgres'))).includes('postmaster.pid');

it('a data folder gets a durable server that others cannot access, also after an interrupted start', async () => {
  await expect(PostgresServer.open(dataDir, ['--encoding=nonsense'])).rejects.toThrow(/^initdb failed: .*nonsense/);
  const postgres = await startLocalPostgres(dataDir);
  expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'postgres-password', 'postgres.log']);
  expect((await query(postgres.url, SETTINGS)).map((row) => Object.values(row).join('='))).toEqual([
    ...['fsync=on', 'full_page_writes=on', 'lc_messages=C', 'listen_addresses=127.0.0.1', 'server_encoding=UTF8'],
    ...['synchronous_commit=on', 'unix_socket_directories='],
  ]);
  for (const [name, mode] of Object.entries({ '': 0o700, 'postgres-password': 0o600, 'postgres.log': 0o600 })) {
    const found = await stat(join(dataDir, name));
    expect([name, found.mode & 0o777, found.uid === 0]).toEqual([name, mode, false]);
  }
  const wrong = Object.assign(new URL(postgres.url), { password: 'guess' }).href;
  await expect(query(wrong, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  await query(postgres.url, 'CREATE TABLE kept AS SELECT 42 AS value');
});

it('a service has a role that owns nothing, with a new password at each start, and its server for itself', async () => {
  const first = await startLocalPostgres(dataDir);
  const role = `SELECT rolname AS name, rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls AS privileged
    FROM pg_roles WHERE rolname = current_user`;
  const unprivileged = [{ name: 'animal_store_service', privileged: false }];
  expect(await query(first.serviceUrl, role)).toEqual(unprivileged);
  await expect(query(first.serviceUrl, 'CREATE TABLE public.mine ()')).rejects.toMatchObject({ code: '42501' });
  await query(first.url, 'ALTER ROLE animal_store_service SUPERUSER');
  const inUse = new LocalPostgresError(`The data folder ${dataDir} is in use by process ${process.pid}.`);
  await expect(startLocalPostgres(dataDir)).rejects.toThrow(inUse);
  // A connection that is left open would keep the process that failed alive.
  const connections = `SELECT FROM pg_stat_activity WHERE application_name = 'process ${process.pid}'`;
  await waitFor(async () => expect(await query(first.url, connections)).toHaveLength(1));
  await first.stop();
  await first.stop();
  expect(await isStopped()).toBe(true);
  const second = await startLocalPostgres(dataDir);
  expect(await query(second.serviceUrl, role)).toEqual(unprivileged);
  expect(new URL(second.serviceUrl).password).not.toBe(new URL(first.serviceUrl).password);
  expect(await query(second.url, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
});

it('a command uses the server of a service and leaves it running, or starts and stops one', async () => {
  const service = await startLocalPostgres(dataDir);
  const command = await connectLocalPostgres(dataDir);
  expect(command.url).toBe(service.url);
  await command.stop();
  expect(await query(service.url, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
  await service.stop();
  const alone = await connectLocalPostgres(dataDir);
  expect(await query(alone.url, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
  await alone.stop();
  expect(await isStopped()).toBe(true);
});

it('a service takes over the server that a killed service has left', async () => {
  const left = await PostgresServer.open(dataDir);
  await left.start();
  const service = await startLocalPostgres(dataDir);
  expect(service.url).toBe(left.url());
  await service.stop();
  expect(await isStopped()).toBe(true);
});

describe('a problem is reported in one line', () => {
  const problem = (folder: string) => expect(startLocalPostgres(folder)).rejects;

  it('if the folder cannot be created', async () => {
    const file = join(temporary, 'file');
    await writeFile(file, '');
    await problem(file).toThrow(`The data folder ${file} cannot be used: EEXIST: file already exists, mkdir '${file}'.`);
  });

  it('if the folder contains something else', async () => {
    const other = join(temporary, 'other');
    await mkdir(join(other, 'postgres'), { recursive: true });
    await writeFile(join(other, 'postgres-password'), 'any');
    await problem(other).toThrow(/^pg_ctl failed: .*other\/postgres.*\.$/);
    expect(await readdir(join(other, 'postgres'))).toEqual([]);
  });

  it('if PostgreSQL does not start', async () => {
    const file = join(dataDir, 'postgres/postgresql.conf');
    const before = await readFile(file, 'utf8');
    await writeFile(file, "work_mem = 'nonsense'\n");
    await problem(dataDir).toThrow(/^PostgreSQL did not start: .*postgresql\.conf.*\. See .*postgres\.log\.$/);
    await writeFile(file, before);
  });

  it('if there is no PostgreSQL for the platform', async () => {
    const { arch } = process;
    Object.defineProperty(process, 'arch', { value: 'riscv64' });
    const failed = problem(join(temporary, 'unsupported')).toThrow(
      /^There is no PostgreSQL for \w+-riscv64 in node_modules: .*DATABASE_URL/,
    );
    await failed.finally(() => Object.defineProperty(process, 'arch', { value: arch }));
  });

  it('with the detail and hint of PostgreSQL', () => {
    const output = '[7] LOG:  starting\n[7] FATAL:  it failed\n[7] DETAIL:  A reason.\n[7] HINT:  Do this.\n';
    expect(findErrorMessage(output)).toBe('it failed [7] DETAIL:  A reason. [7] HINT:  Do this.');
    expect(findErrorMessage('setpriv: failed to execute\n')).toBe('setpriv: failed to execute.');
  });
});

it('if this process is root, programs run as another account, also below a folder that the account cannot enter', async () => {
  if (process.getuid?.() !== 0) return;
  const closed = join(temporary, 'private');
  await mkdir(closed, { mode: 0o700 });
  await writeFile(join(closed, 'file'), '');
  await promisify(execFile)('env', [...setprivCommand({ uid: 65_534, gid: 65_534 }), 'cat', join(closed, 'file')]);
});
