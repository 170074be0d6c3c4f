import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, appendFile, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { clusterName, readPostmasterFile } from './cluster.js';
import { serverProcesses } from './left-over-server.js';
import { LocalPostgresError } from './local-postgres-error.js';
import { type LocalPostgres, startLocalPostgres as start, type StartOptions, useLocalPostgres } from './local-postgres.js';
import { waitFor } from './testing/wait-for.js';

let temporary: string;
/** One folder for all specs that leave it intact: creating it is what takes time. */
let dataDir: string;

beforeAll(async () => {
  temporary = await realpath(await mkdtemp(join(tmpdir(), 'local-postgres-')));
  dataDir = join(temporary, 'not yet there', 'data');
});
afterAll(() => rm(temporary, { recursive: true, force: true }));

/** Also a spec that fails leaves no process behind. */
const started: LocalPostgres[] = [];
const children: ChildProcess[] = [];
afterEach(async () => {
  await Promise.all(children.splice(0).map(kill));
  await Promise.all(started.splice(0).map((postgres) => postgres.stop()));
});

async function startLocalPostgres(options: StartOptions): Promise<LocalPostgres> {
  const postgres = await start(options);
  started.push(postgres);
  return postgres;
}

const cluster = () => join(dataDir, 'postgres');

async function serverPid(): Promise<number> {
  const state = await readPostmasterFile(cluster());
  assert(state, 'a server is running');
  return state.pid;
}

describe('a data folder', () => {
  it('gets a durable server of its own, closed to others', async () => {
    const postgres = await startLocalPostgres({ dataDir });
    const url = new URL(postgres.url);
    expect(url.pathname).toBe('/animal_store');
    expect(postgres.version).toMatch(/^18\./);
    expect(await setting(postgres.url, 'listen_addresses', 'unix_socket_directories')).toEqual(['127.0.0.1', '']);
    expect(await setting(postgres.url, 'fsync', 'synchronous_commit', 'full_page_writes')).toEqual(['on', 'on', 'on']);
    expect(await setting(postgres.url, 'server_encoding', 'lc_messages')).toEqual(['UTF8', 'C']);
    expect(await mode(dataDir)).toBe(0o700);
    expect(await mode(join(dataDir, 'postgres-password'))).toBe(0o600);

    const stranger = new URL(url);
    stranger.password = 'guess';
    await expect(query(stranger.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    await postgres.stop();
    expect(await serverProcesses(cluster())).toEqual([]);
  });

  it('keeps its data', async () => {
    const first = await startLocalPostgres({ dataDir });
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    const second = await startLocalPostgres({ dataDir });
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    await second.stop();
    await second.stop();
  });

  it('works again when its password file is lost', async () => {
    await rm(join(dataDir, 'postgres-password'));
    const postgres = await startLocalPostgres({ dataDir });
    expect(await query(postgres.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    await postgres.stop();
  });

  it('keeps its log short', async () => {
    const log = join(dataDir, 'postgres.log');
    await truncate(log, 11 * 1024 * 1024);
    const postgres = await startLocalPostgres({ dataDir });
    expect((await stat(log)).size).toBeLessThan(100_000);
    await postgres.stop();
  });
});

describe('the lock of a data folder', () => {
  it('tells a second start who has the folder', async () => {
    const postgres = await startLocalPostgres({ dataDir, announce: () => 'the service at http://localhost:3000 (process 1234)' });
    await expect(startLocalPostgres({ dataDir })).rejects.toThrow(
      new LocalPostgresError(`The data folder ${dataDir} is in use by the service at http://localhost:3000 (process 1234).`),
    );
    await postgres.stop();
  });

  it('is waited for when its holder stops', async () => {
    const stopping = new AbortController();
    const first = await startLocalPostgres({ dataDir, stopping: stopping.signal });
    stopping.abort();
    const next = startLocalPostgres({ dataDir });
    await first.stop();
    expect(await query((await next).url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  });

  it('is given to one of several starts at the same instant', async () => {
    const starts = await Promise.allSettled(Array.from({ length: 5 }, () => startLocalPostgres({ dataDir })));
    const running = starts.filter((start) => start.status === 'fulfilled').map(({ value }) => value);
    const refusals = starts.filter((start) => start.status === 'rejected').map(({ reason }) => String(reason));
    await Promise.all(running.map((postgres) => postgres.stop()));
    expect(running).toHaveLength(1);
    expect(refusals).toEqual(Array(4).fill(`LocalPostgresError: The data folder ${dataDir} is in use by process ${process.pid}.`));
  });
});

describe('a command', () => {
  it('uses the server of a running service and leaves it running', async () => {
    const service = await startLocalPostgres({ dataDir });
    const command = await useLocalPostgres({ dataDir });
    expect(command).toMatchObject({ url: service.url, version: service.version });
    await command.stop();
    expect(await query(service.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    await service.stop();
  });

  it('starts the server without a service, one command after the other', async () => {
    const run = async () => {
      const postgres = await useLocalPostgres({ dataDir });
      const rows = await query(postgres.url, 'SELECT answer FROM kept');
      await postgres.stop();
      return rows;
    };
    expect(await Promise.all([run(), run()])).toEqual([[{ answer: 42 }], [{ answer: 42 }]]);
    expect(await serverProcesses(cluster())).toEqual([]);
  });
});

describe('after a fault', () => {
  it('recovers when the service was killed', async () => {
    const holder = await startHolder(dataDir);
    process.kill(-holder.pid, 'SIGINT'); // what Ctrl-C sends: the server takes no notice
    await query(holder.url, "CREATE TABLE committed AS SELECT 'yes' AS stored");
    await kill(holder.process);
    const orphans = await serverProcesses(cluster());
    expect(orphans.length).toBeGreaterThan(1);

    const postgres = await startLocalPostgres({ dataDir });
    expect(await query(postgres.url, 'SELECT stored FROM committed')).toEqual([{ stored: 'yes' }]);
    const now = await serverProcesses(cluster());
    expect(now.filter((pid) => orphans.includes(pid))).toEqual([]);
    await postgres.stop();
  });

  it('recovers when the service and PostgreSQL were killed, and a busy orphan still has the shared memory', async () => {
    const holder = await startHolder(dataDir);
    const busy = new Client({ connectionString: holder.url });
    busy.on('error', () => undefined);
    await busy.connect();
    const { rows } = await busy.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const endless = busy.query('SELECT count(*) FROM generate_series(1, 1e15::bigint)');
    const ended = expect(endless).rejects.toThrow();
    await waitFor(async () =>
      expect(
        await query(
          holder.url,
          "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%1e15%' AND pid <> pg_backend_pid()",
        ),
      ).toHaveLength(1),
    );
    const pid = await serverPid();
    await kill(holder.process);
    process.kill(pid, 'SIGKILL');
    await waitFor(async () => expect(await serverProcesses(cluster())).toEqual(rows.map((row) => row.pid)));

    const postgres = await startLocalPostgres({ dataDir });
    expect(await query(postgres.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    await postgres.stop();
    await ended;
  });

  it('ignores a postmaster.pid whose pid belongs to another program, and leaves that alone', async () => {
    const { uid, gid } = await stat(cluster());
    const stranger = spawn('sleep', ['60'], { stdio: 'ignore', ...(process.getuid?.() === 0 && { uid, gid }) });
    children.push(stranger);
    await writeFile(
      join(cluster(), 'postmaster.pid'),
      `${stranger.pid}\n${cluster()}\n1700000000\n5432\n\n127.0.0.1\n  123456  65536\nready   \n`,
    );
    const postgres = await startLocalPostgres({ dataDir });
    expect(await query(postgres.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    await postgres.stop();
    expect(stranger.exitCode).toBeNull();
    expect(stranger.signalCode).toBeNull();
  });

  it('starts PostgreSQL again at the same URL when it dies under a running service', async () => {
    const reports: string[] = [];
    const postgres = await startLocalPostgres({ dataDir, report: (line) => reports.push(line) });
    const pid = await serverPid();
    process.kill(pid, 'SIGKILL');
    await waitFor(() => expect(reports).toEqual(['PostgreSQL has stopped unexpectedly and is started again.', 'PostgreSQL is back.']));
    expect(await query(postgres.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    await postgres.stop();
    expect(await serverProcesses(cluster())).toEqual([]);
  });

  it('can be stopped while PostgreSQL is down', async () => {
    const reports: string[] = [];
    const postgres = await startLocalPostgres({ dataDir, report: (line) => reports.push(line) });
    process.kill(await serverPid(), 'SIGKILL');
    await waitFor(() => expect(reports).toHaveLength(1));
    await postgres.stop();
    expect(await serverProcesses(cluster())).toEqual([]);
    const next = await startLocalPostgres({ dataDir });
    await next.stop();
  });

  it('can be stopped while PostgreSQL is being started again', async () => {
    const postgres = await startLocalPostgres({ dataDir });
    const pid = await serverPid();
    process.kill(pid, 'SIGKILL');
    const isStarting = async () => expect((await readPostmasterFile(cluster()))?.pid).not.toBe(pid);
    await waitFor(isStarting, { intervalMs: 1 });
    await postgres.stop();
    expect(await serverProcesses(cluster())).toEqual([]);
  });

  it('knows an orphan by the title that PostgreSQL gives it', async () => {
    const orphan = spawn('sleep', ['60'], { stdio: 'ignore', argv0: `postgres: ${clusterName(cluster())}: io worker 0` });
    const other = spawn('sleep', ['60'], { stdio: 'ignore', argv0: `postgres: ${clusterName(temporary)}: io worker 0` });
    children.push(orphan, other);
    await Promise.all([once(orphan, 'spawn'), once(other, 'spawn')]);
    expect(await serverProcesses(cluster())).toEqual([orphan.pid]);
  });

  it('begins again when the first start was interrupted', async () => {
    const interrupted = join(temporary, 'interrupted');
    await mkdir(join(interrupted, 'postgres.unfinished-abc123', 'base'), { recursive: true });
    const postgres = await startLocalPostgres({ dataDir: interrupted });
    expect(await query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await postgres.stop();
    expect((await readdir(interrupted)).sort()).toEqual(['postgres', 'postgres-password', 'postgres.log']);
  });
});

describe('says in one line what is wrong', () => {
  const problem = async (folder: string): Promise<string> => {
    const error: unknown = await startLocalPostgres({ dataDir: folder }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LocalPostgresError);
    expect((error as Error).message).not.toContain('\n');
    return (error as Error).message;
  };

  it('when the folder cannot be made', async () => {
    const file = join(temporary, 'file');
    await writeFile(file, '');
    expect(await problem(file)).toBe(`The data folder ${file} cannot be used: it is not a folder.`);
    const below = join(file, 'any', 'data');
    expect(await problem(below)).toBe(`The data folder ${below} cannot be used: ${join(file, 'any')} is not a folder.`);
  });

  it('when the database is of another version', async () => {
    const old = join(temporary, 'old');
    await mkdir(join(old, 'postgres'), { recursive: true });
    await writeFile(join(old, 'postgres', 'PG_VERSION'), '17\n');
    expect(await problem(old)).toBe(
      `The folder ${join(old, 'postgres')} holds a database of PostgreSQL 17, which PostgreSQL 18 cannot open.`,
    );
  });

  it('when the folder holds something else', async () => {
    const other = join(temporary, 'other');
    await mkdir(join(other, 'postgres'), { recursive: true });
    await writeFile(join(other, 'postgres', 'holiday.jpg'), '');
    expect(await problem(other)).toBe(`The folder ${join(other, 'postgres')} does not hold a PostgreSQL database.`);
    expect(await readdir(join(other, 'postgres'))).toEqual(['holiday.jpg']);
  });

  it('when PostgreSQL does not start', async () => {
    const settings = join(cluster(), 'postgresql.conf');
    const before = await readFile(settings);
    await appendFile(settings, "\nwork_mem = 'nonsense'\n");
    expect(await problem(dataDir)).toMatch(/^PostgreSQL did not start: .*postgresql\.conf.* \(log: .*postgres\.log\)\.$/);
    await writeFile(settings, before);
    const postgres = await startLocalPostgres({ dataDir });
    await postgres.stop();
  });

  it('when there is no PostgreSQL for the platform', async () => {
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

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

async function setting(url: string, ...names: string[]): Promise<unknown[]> {
  const rows = await Promise.all(names.map((name) => query(url, `SELECT current_setting('${name}') AS value`)));
  return rows.map(([row]) => row?.['value']);
}

async function mode(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

/** The holder runs from source, without a build: Node.js strips the types, the hook finds `x.ts` for `x.js`. */
const HOOK = `data:text/javascript,import { registerHooks } from 'node:module';
registerHooks({ resolve: (specifier, context, next) => next(context.parentURL?.endsWith('.ts') ? specifier.replace(/^(\\..*)\\.js$/, '$1.ts') : specifier, context) });`;

async function startHolder(folder: string): Promise<{ process: ChildProcess; pid: number; url: string }> {
  const args = ['--import', HOOK, join(import.meta.dirname, 'testing', 'holder.ts'), folder];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  children.push(child);
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  assert(child.pid !== undefined);
  return { process: child, pid: child.pid, url };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
