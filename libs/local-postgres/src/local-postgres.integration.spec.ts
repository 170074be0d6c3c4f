import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { setprivCommand } from './account.js';
import { PostgresServer } from './postgres-server.js';
import { LocalPostgresError } from './local-postgres-error.js';
import { connectLocalPostgres, type LocalPostgres, startLocalPostgres as start } from './local-postgres.js';
import { MAX_DEATHS, type ServicePostgres } from './service-postgres.js';
import { query } from './testing/query.js';
import { createTemporaryFolder } from './testing/temporary-folder.js';
import { waitFor } from './testing/wait-for.js';

const COMPILED = join(import.meta.dirname, '../dist');

let temporary: string;
/** Shared by all specs that leave it intact, because creating a folder is slow. */
let dataDir: string;

beforeAll(async () => {
  temporary = await realpath(await mkdtemp(join(tmpdir(), 'local-postgres-')));
  dataDir = join(temporary, 'does not exist', 'data');
});
afterAll(() => rm(temporary, { recursive: true, force: true }));

/** Stopped after each spec, even if it fails. */
const started: LocalPostgres[] = [];
const children: ChildProcess[] = [];
afterEach(async () => {
  await Promise.all(children.splice(0).map(kill));
  await Promise.all(started.splice(0).map((postgres) => postgres.stop()));
});

async function startLocalPostgres(...options: Parameters<typeof start>): Promise<ServicePostgres> {
  const postgres = await start(...options);
  started.push(postgres);
  return postgres;
}

const postgresFolder = () => join(dataDir, 'postgres');

/** Returns the process id of the running or killed server; undefined after a shutdown. */
async function serverPid(): Promise<number | undefined> {
  const text = await readFile(join(postgresFolder(), 'postmaster.pid'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : Number(text.split('\n')[0]);
}

async function killServer(): Promise<void> {
  const pid = await serverPid();
  assert(pid !== undefined, 'a server is running');
  process.kill(pid, 'SIGKILL');
}

it('a data folder is created once if several first commands run concurrently, even after an interrupted start', async () => {
  await expect(PostgresServer.open(dataDir, ['--encoding=nonsense'])).rejects.toThrow(/^initdb failed: .*nonsense/);
  expect((await readdir(dataDir)).sort()).toEqual(['postgres-password', expect.stringMatching(/^postgres\.unfinished-/)]);
  const commands = await Promise.all([connectLocalPostgres({ dataDir }), connectLocalPostgres({ dataDir })]);
  started.push(...commands);
  expect(new Set(commands.map(({ url }) => url)).size).toBe(1);
  await query(commands[0].url, 'CREATE TABLE kept AS SELECT 42 AS value');
  await Promise.all(commands.map((postgres) => postgres.stop()));
  expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'postgres-password', 'postgres.log']);
  expect(await serverPid()).toBeUndefined();
});

describe('a service', () => {
  it('has its own durable server that others cannot access', async () => {
    const postgres = await startLocalPostgres({ dataDir });
    const url = new URL(postgres.url);
    expect(url.pathname).toBe('/animal_store');
    expect(postgres.version).toMatch(/^18\./);
    expect(await setting(postgres.url, 'listen_addresses', 'unix_socket_directories')).toEqual(['127.0.0.1', '']);
    expect(await setting(postgres.url, 'fsync', 'synchronous_commit', 'full_page_writes')).toEqual(['on', 'on', 'on']);
    expect(await setting(postgres.url, 'server_encoding', 'lc_messages')).toEqual(['UTF8', 'C']);
    expect(await mode(dataDir)).toBe(0o700);
    expect(await mode(join(dataDir, 'postgres-password'))).toBe(0o600);
    expect((await stat(postgresFolder())).uid).not.toBe(0);
    const { stdout: uid } = await promisify(execFile)('ps', ['-o', 'uid=', '-p', String(await serverPid())]);
    expect(Number(uid)).toBeGreaterThan(0);

    const wrongPassword = new URL(url);
    wrongPassword.password = 'guess';
    await expect(query(wrongPassword.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    await expect(start({ dataDir })).rejects.toThrow(
      new LocalPostgresError(`The data folder ${dataDir} is in use by process ${process.pid}.`),
    );
    expect(await query(postgres.url, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
    expect(await sessions(postgres)).toHaveLength(1);
  });

  it('has a role that owns nothing and gets a new password at each start, which waits for a server that is shutting down', async () => {
    const first = await startLocalPostgres({ dataDir });
    const role = `SELECT current_user AS name, rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls AS privileged
      FROM pg_roles WHERE rolname = current_user`;
    expect(await query(first.serviceUrl, role)).toEqual([{ name: first.serviceRole, privileged: false }]);
    await expect(query(first.serviceUrl, 'CREATE TABLE public.mine (id bigint)')).rejects.toMatchObject({ code: '42501' });
    await query(first.url, `ALTER ROLE ${first.serviceRole} SUPERUSER`);
    const stopped = first.stop();
    const second = await startLocalPostgres({ dataDir });
    await stopped;
    expect(await query(second.serviceUrl, role)).toEqual([{ name: second.serviceRole, privileged: false }]);
    expect(new URL(second.serviceUrl).password).not.toBe(new URL(first.serviceUrl).password);
    expect(await query(second.url, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
    await second.stop();
    await second.stop();
    expect(await serverPid()).toBeUndefined();
  });

  it('is rejected if several start concurrently', async () => {
    const starts = await Promise.allSettled(Array.from({ length: 3 }, () => startLocalPostgres({ dataDir })));
    const running = starts.filter((start) => start.status === 'fulfilled').map(({ value }) => value);
    const errors = starts.filter((start) => start.status === 'rejected').map(({ reason }) => String(reason));
    await Promise.all(running.map((postgres) => postgres.stop()));
    expect(running).toHaveLength(1);
    expect(errors).toEqual(Array(2).fill(`LocalPostgresError: The data folder ${dataDir} is in use by process ${process.pid}.`));
    expect(await serverPid()).toBeUndefined();
  });
});

describe('a command', () => {
  it('uses the server of a running service, leaves it running, and keeps it running if the service stops first', async () => {
    const service = await startLocalPostgres({ dataDir });
    const commands = [await connectLocalPostgres({ dataDir }), await connectLocalPostgres({ dataDir })] as const;
    started.push(...commands);
    for (const command of commands) expect(command.url).toBe(service.url);
    await commands[0].stop();
    expect(await query(service.url, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
    await service.stop();
    expect(await query(commands[1].url, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
    await commands[1].stop();
    expect(await serverPid()).toBeUndefined();
  });

  it('starts the server if there is no service, and the last of several commands stops it', async () => {
    const run = async () => {
      const postgres = await connectLocalPostgres({ dataDir });
      const rows = await query(postgres.url, 'SELECT value FROM kept');
      await postgres.stop();
      return rows;
    };
    expect(await Promise.all([run(), run(), run()])).toEqual(Array(3).fill([{ value: 42 }]));
    expect(await serverPid()).toBeUndefined();
  });
});

describe('a program that runs as another account', () => {
  const run = async (folders: readonly string[], ...command: readonly string[]) => {
    const prefix = process.getuid?.() === 0 ? await setprivCommand({ uid: 65_534, gid: 65_534 }, folders) : [];
    return (await promisify(execFile)('env', [...prefix, ...command])).stdout;
  };

  it('can access a private folder of the user', async () => {
    const folder = join(temporary, 'private');
    await mkdir(folder, { mode: 0o700 });
    await writeFile(join(folder, 'program'), '', { mode: 0o755 });
    // As initdb does before it runs postgres.
    const code = `fs.accessSync(${JSON.stringify(join(folder, 'program'))}, fs.constants.X_OK)`;
    await run([folder], process.execPath, '--eval', code);
  });

  it('has no capabilities if it can enter the folders, and cannot read /etc/shadow', async () => {
    if (process.platform !== 'linux') return;
    expect(await run(['/'], 'cat', '/proc/self/status')).toMatch(/^CapEff:\s*0+$/m);
    await expect(run(['/'], 'cat', '/etc/shadow')).rejects.toThrow('Permission denied');
  });
});

describe('after a fault', () => {
  it('takes over the server of a killed service, starts it again if it is killed, and stops even if it is down', async () => {
    const holder = await startService(dataDir);
    process.kill(-holder.pid, 'SIGINT'); // As with Ctrl-C. The signal does not reach the server.
    await query(holder.url, "CREATE TABLE committed AS SELECT 'yes' AS stored");
    await kill(holder.process);
    const pid = await serverPid();
    const first = await startLocalPostgres({ dataDir });
    expect(await serverPid()).toBe(pid);

    const client = new Client({ connectionString: first.url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query("INSERT INTO committed VALUES ('also')");
    await killServer();
    // The URL stays the same.
    await waitFor(async () => expect(await serviceLocks(first)).toHaveLength(1));
    expect(await query(first.url, 'SELECT stored FROM committed')).toEqual([{ stored: 'yes' }, { stored: 'also' }]);
    await killServer();
    await first.stop();
  });

  it('starts a killed server on its port even if a command does that first, and gives up after five deaths in a minute', async () => {
    const postgres = await startLocalPostgres({ dataDir });
    const first = await serverPid();
    await killServer();
    await waitFor(async () => expect([first, undefined]).not.toContain(await serverPid()));
    // The second one is killed while it starts.
    for (let deaths = 2; deaths < MAX_DEATHS; deaths++) {
      await killServer();
      const command = await connectLocalPostgres({ dataDir });
      expect(command.url).toBe(postgres.url);
      await waitFor(async () => expect(await serviceLocks(postgres)).toHaveLength(1));
      await command.stop();
    }
    await killServer();
    await expect(postgres.failed).rejects.toThrow(
      new LocalPostgresError(`PostgreSQL died 5 times within a minute. See ${join(dataDir, 'postgres.log')}.`),
    );
  });

  it('starts a killed server on its port even if the port is in use for a moment, but not for longer', async () => {
    const killed = await connectLocalPostgres({ dataDir });
    const port = Number(new URL(killed.url).port);
    await killServer();
    const other = createServer();
    await waitFor(() => once(other.listen(port, '127.0.0.1'), 'listening'));
    const starting = connectLocalPostgres({ dataDir });
    // A failed attempt removes it.
    await waitFor(async () => expect(await serverPid()).toBeUndefined());
    other.close();
    const command = await starting;
    started.push(command);
    expect(command.url).toBe(killed.url);
    await command.stop();

    await once(other.listen(port, '127.0.0.1'), 'listening');
    const elsewhere = await connectLocalPostgres({ dataDir });
    started.push(elsewhere);
    expect(elsewhere.url).not.toBe(killed.url);
    other.close();
  });

  it('stops the server after PostgreSQL has recovered from a crashed backend', async () => {
    const postgres = await startLocalPostgres({ dataDir });
    const [backend] = await sessions(postgres);
    process.kill(Number(backend?.['pid']), 'SIGKILL');
    await waitFor(() => query(postgres.url, 'SELECT value FROM kept'));
    await postgres.stop();
    expect(await serverPid()).toBeUndefined();
  });

  it('stops the server while PostgreSQL recovers', async () => {
    const postgres = await startLocalPostgres({ dataDir });
    const [backend] = await sessions(postgres);
    process.kill(Number(backend?.['pid']), 'SIGKILL');
    await postgres.stop();
    expect(await serverPid()).toBeUndefined();
  });

  it('ignores a postmaster.pid whose pid belongs to another program, and sends that no signal', async () => {
    const otherProgram = await startOtherProgram();
    await writeFile(
      join(postgresFolder(), 'postmaster.pid'),
      `${otherProgram.pid}\n${postgresFolder()}\n1700000000\n5432\n\n127.0.0.1\n  123456  65536\nready   \n`,
    );
    const postgres = await startLocalPostgres({ dataDir });
    expect(await query(postgres.url, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
    await postgres.stop();
    expect(otherProgram.exitCode).toBeNull();
    expect(otherProgram.signalCode).toBeNull();
  });

  it('waits for a server that is creating its shared memory block', async () => {
    // PostgreSQL writes the status, the eighth line, once the block is initialized.
    const file = join(postgresFolder(), 'postmaster.pid');
    const otherProgram = await startOtherProgram();
    const lines = `${otherProgram.pid}\n${postgresFolder()}\n1700000000\n5432\n\n127.0.0.1\n  123456  65536\n`;
    await writeFile(file, lines);
    const starting = startLocalPostgres({ dataDir });
    await waitFor(async () => {
      const logs = (await readdir(dataDir)).filter((name) => name.startsWith('postgres.log.'));
      const texts = await Promise.all(logs.map((name) => readFile(join(dataDir, name), 'utf8')));
      expect(texts.join()).toContain('lock file "postmaster.pid" already exists');
    });
    expect(await readFile(file, 'utf8')).toBe(lines);
    await rm(file);
    const postgres = await starting;
    expect(await query(postgres.url, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
    await postgres.stop();
  });
});

describe('a throw-away server', () => {
  it('stops when its process exits, and leaves no files', async () => {
    const child = await startThrowAway();
    expect(await setting(child.url, 'fsync')).toEqual(['off']);
    expect(await foldersOf(child.pid)).toHaveLength(1);
    child.process.kill('SIGTERM');
    expect(await once(child.process, 'exit')).toEqual([143, null]);
    // The operating system may accept connections until the server process has ended.
    await waitFor(() => expect(query(child.url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' }));
    expect(await foldersOf(child.pid)).toEqual([]);
  });

  it('removes the files of killed processes, also if several start concurrently', async () => {
    const { pid: ended } = spawnSync('true');
    const [abandoned, live] = [ended, process.ppid].map((pid) => join(tmpdir(), `animal-store-postgres-${pid}-test`)) as [string, string];
    for (const folder of [abandoned, live]) await mkdir(join(folder, 'postgres', 'base'), { recursive: true });
    const folders = [live, ...(await Promise.all([createTemporaryFolder(), createTemporaryFolder()]))];
    expect(await foldersOf(ended)).toEqual([]);
    for (const folder of folders) await rm(folder, { recursive: true });
  });
});

async function setting(url: string, ...names: string[]): Promise<unknown[]> {
  const rows = await Promise.all(names.map((name) => query(url, `SELECT current_setting('${name}') AS value`)));
  return rows.map(([row]) => row?.['value']);
}

/** The sessions in the database `postgres`, which show that the server is in use. */
function sessions({ url }: LocalPostgres) {
  return query(url, "SELECT pid FROM pg_stat_activity WHERE datname = 'postgres'");
}

/** The advisory lock that a running service holds. */
function serviceLocks({ url }: LocalPostgres) {
  const database = `(SELECT oid FROM pg_database WHERE datname = 'postgres')`;
  return query(url, `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 2 AND granted AND database = ${database}`);
}

async function mode(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

/** Runs code that starts a server and stores it in a variable `postgres`. The process ignores Ctrl-C and runs until it is killed. */
async function startChild(code: string): Promise<{ process: ChildProcess; pid: number; url: string }> {
  const program = `${code}; process.on('SIGINT', () => undefined); console.log(postgres.url); setInterval(() => undefined, 60_000);`;
  const args = ['--input-type=module', '--eval', program];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  children.push(child);
  const exited = once(child, 'exit').then(([code]) => assert.fail(`exited with ${code} before it was ready`));
  const [url] = (await Promise.race([once(createInterface(child.stdout), 'line'), exited])) as [string];
  assert(child.pid !== undefined);
  return { process: child, pid: child.pid, url };
}

function startService(folder: string) {
  const module = JSON.stringify(join(COMPILED, 'local-postgres.js'));
  return startChild(
    `import { startLocalPostgres } from ${module}; const postgres = await startLocalPostgres({ dataDir: ${JSON.stringify(folder)} })`,
  );
}

/** Starts another program, with the user account of the server. */
async function startOtherProgram(): Promise<ChildProcess> {
  const { uid, gid } = await stat(postgresFolder());
  const otherProgram = spawn('sleep', ['600'], { stdio: 'ignore', ...(process.getuid?.() === 0 && { uid, gid }) });
  children.push(otherProgram);
  return otherProgram;
}

function startThrowAway() {
  const module = JSON.stringify(join(COMPILED, 'testing/throw-away-postgres.js'));
  return startChild(`import { startThrowAwayPostgres } from ${module}; const postgres = await startThrowAwayPostgres()`);
}

async function foldersOf(pid: number): Promise<string[]> {
  return (await readdir(tmpdir())).filter((name) => name.startsWith(`animal-store-postgres-${pid}-`));
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
