import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, link, mkdir, mkdtemp, open, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { findErrorMessage, LocalPostgresError, ServerKilledError } from './local-postgres-error.js';
import { Programs } from './programs.js';

const OWNER = 'animal_store';
export const SERVICE_ROLE = 'animal_store_service';
const DATABASE = 'animal_store';
const UNFINISHED_PREFIX = 'postgres.unfinished-';
const START_TIMEOUT_MS = 60_000;
/** Attempts to start on the last port, which the processes of a killed server may still hold. */
const MAX_PORT_ATTEMPTS = 10;
const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 25;
const CONNECT_TIMEOUT_MS = 5_000;
/** Key of the shared advisory lock in the database `postgres` that each process holds while it uses the server. */
const IN_USE_LOCK = 1;
/** The status in the last line of postmaster.pid. */
const READY_STATUS = 'ready';
const PORT_IN_USE = /^could not create any TCP\/IP sockets/;
/** Another process is starting or stopping the server. */
const OTHER_PROCESS = /^lock file "postmaster\.pid"|^could not remove old lock file .*: No such file|^pre-existing shared memory block/;

interface ServerOptions {
  /** Settings for the command line of postgres, as `name=value`. */
  readonly settings?: readonly string[];
  /** The default is the port of the last start, or a random one. */
  readonly port?: number;
}

/** A connection to the database `postgres`. While it is open, no other process stops the server. */
export interface Session {
  readonly client: Client;
  readonly port: number;
  /** Process ids of the server and of its backend for this connection. */
  readonly pid: number;
  readonly backend: number;
  /** Aborted when the connection has ended. */
  readonly lost: AbortSignal;
}

/** The PostgreSQL of a data folder. */
export class PostgresServer {
  /** The server process, if this process has started it. */
  process: ChildProcess | undefined;
  readonly logFile = join(this.folder, 'postgres.log');

  private constructor(
    readonly folder: string,
    private readonly programs: Programs,
    private readonly password: string,
  ) {}

  /** Opens a data folder and creates what is missing. `initdbArgs` apply to a new one. */
  static async open(dataDir: string, initdbArgs: readonly string[] = []): Promise<PostgresServer> {
    // Line by line, postmaster.pid has the path, the port and the status.
    if (/[\r\n]/.test(dataDir))
      throw new LocalPostgresError(`The data folder ${JSON.stringify(dataDir)} cannot be used: it contains a line break.`);
    await mkdir(dataDir, { recursive: true });
    const folder = await realpath(dataDir);
    const programs = await Programs.find(folder);
    if ((await readdir(folder)).length === 0) {
      await chmod(folder, 0o700);
      await programs.changeOwner(folder);
    }
    const passwordFile = join(folder, 'postgres-password');
    if (!existsSync(join(folder, 'postgres'))) {
      if (!existsSync(passwordFile)) await createPassword(passwordFile, programs);
      await createData(folder, programs, [`--pwfile=${passwordFile}`, ...initdbArgs]);
    }
    return new PostgresServer(folder, programs, (await readFile(passwordFile, 'utf8')).trim());
  }

  /** Copies the data of the server, which must be stopped, into an empty folder. */
  async copyTo(folder: string): Promise<void> {
    await cp(this.folder, folder, { recursive: true, preserveTimestamps: true });
    for (const name of ['', ...(await readdir(folder, { recursive: true }))]) await this.programs.changeOwner(join(folder, name));
    await chmod(join(folder, 'postgres'), 0o700);
    // The copy must not wait for the port of the original.
    await rm(join(folder, 'postgres', 'postmaster.opts'));
  }

  url(port: number, { user = OWNER, password = this.password, database = DATABASE } = {}): string {
    return `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
  }

  /** Creates the role of the service if it is missing. Resets its attributes but not its grants. Returns its new password. */
  async prepareServiceRole({ client }: Session): Promise<string> {
    const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [SERVICE_ROLE]);
    if (!rowCount) await client.query(`CREATE ROLE ${SERVICE_ROLE}`);
    const password = randomBytes(24).toString('hex');
    const attributes = 'LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS';
    await client.query(`ALTER ROLE ${SERVICE_ROLE} ${attributes} PASSWORD '${password}'`);
    return password;
  }

  /** Connects to the server, or returns undefined if it is not running. The password ensures that it is the server of this folder. */
  async connect(): Promise<Session | undefined> {
    const [pid, , , port, , , , status] = await this.readPostmasterFile();
    if (status !== READY_STATUS) return undefined;
    const client = new Client({
      connectionString: this.url(Number(port), { database: 'postgres' }),
      application_name: `process ${process.pid}`,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      ssl: false,
    });
    client.on('error', () => undefined);
    const lost = new AbortController();
    client.once('end', () => lost.abort());
    try {
      await client.connect();
      // Waits for a process that is stopping the server.
      const { rows } = await client.query<{ backend: number }>('SELECT pg_backend_pid() AS backend, pg_advisory_lock_shared($1)', [
        IN_USE_LOCK,
      ]);
      // A shutdown closes connections one after the other, so this one may still be open.
      if ((await this.readPostmasterFile())[7] !== READY_STATUS) throw new Error('The server is stopping.');
      return { client, port: Number(port), pid: Number(pid), backend: Number(rows[0]?.backend), lost: lost.signal };
    } catch {
      void client.end().catch(() => undefined);
      return undefined;
    }
  }

  /** Connects to the server. Starts it if it is not running. */
  async start({ settings = [], port }: ServerOptions = {}): Promise<Session> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    const { logFile } = this;
    // Several processes may start the server concurrently, so each logs to its own file until one succeeds.
    const log = `${logFile}.${randomBytes(8).toString('hex')}`;
    const fail = async (problem: string, ErrorType = LocalPostgresError) => {
      await rename(log, logFile);
      throw new ErrorType(`PostgreSQL did not start: ${problem} See ${logFile}.`);
    };
    let portAttempts = 0;
    try {
      for (let server: ChildProcess | undefined; ;) {
        const session = await this.connect();
        if (session) {
          if (session.pid === this.process?.pid) await rename(log, logFile);
          await createDatabase(session.client);
          return session;
        }
        const isLate = performance.now() > deadline;
        // With exit code 0, another process has already used the new server and stopped it.
        if (server && !this.process && (isLate || server.exitCode !== 0)) {
          const problem = findErrorMessage(await readFile(log, 'utf8'));
          if (server.signalCode) await fail(`it was killed by ${server.signalCode}.`, ServerKilledError);
          if (PORT_IN_USE.test(problem)) portAttempts++;
          else if (!OTHER_PROCESS.test(problem)) await fail(problem);
          if (isLate) await fail(problem);
        }
        if (isLate) await fail(`it was not ready after ${START_TIMEOUT_MS / 1000} s.`);
        if (!this.process) {
          // A killed server comes back on its port, which a running service still uses.
          const lastPort = portAttempts < MAX_PORT_ATTEMPTS ? await this.findLastPort() : undefined;
          server = await this.spawnServer(log, settings, port ?? lastPort ?? randomPort());
        }
        await sleep(POLL_MS);
      }
    } finally {
      await rm(log, { force: true });
    }
  }

  /** Ends the session and stops the server unless another process uses it. `crashed` is the backend of a lost session. */
  async release({ client, pid, backend }: Session, crashed?: number): Promise<void> {
    const unlocked = client.query('SELECT pg_advisory_unlock_shared($1)', [IN_USE_LOCK]);
    const isLast = await unlocked.then(() => isLastUser(client, crashed)).catch(() => undefined);
    if (isLast) await this.stop(pid);
    await client.end();
    // After a crash, PostgreSQL closes all connections and recovers.
    const another = isLast === undefined ? await this.reconnect(pid) : undefined;
    if (another) await this.release(another, crashed ?? backend);
  }

  /** Reconnects after the server has recovered. Returns undefined if it ends or another process has started a new one. */
  async reconnect(pid: number): Promise<Session | undefined> {
    for (const deadline = performance.now() + START_TIMEOUT_MS; performance.now() < deadline; await sleep(POLL_MS)) {
      const session = await this.connect();
      if (session) return session;
      if (Number((await this.readPostmasterFile())[0]) !== pid || !isRunning(pid)) return undefined;
    }
    return undefined;
  }

  /** Does a fast shutdown, then an immediate one if that takes too long. `pid` must be that of the running server. */
  async stop(pid: number): Promise<void> {
    for (const signal of ['INT', 'QUIT']) {
      const isSent = await this.programs.run('pg_ctl', ['kill', signal, `${pid}`]).then(
        () => true,
        () => false,
      );
      if (!isSent || (await this.hasStopped(pid))) break;
    }
    await this.exited();
  }

  /** Resolves when the server that this process started has exited. */
  async exited(): Promise<void> {
    if (!this.process) return;
    this.process.ref();
    await once(this.process, 'exit');
  }

  private async spawnServer(log: string, settings: readonly string[], port: number): Promise<ChildProcess> {
    // PostgreSQL does not start if the pid in the postmaster.pid of a killed server now belongs to another program, unless
    // PG_GRANDPARENT_PID contains that pid. PostgreSQL then detects a running server only by its shared memory block. A server that has
    // no status yet, or is stopping, may not have the block.
    const [stalePid, , , , , , sharedMemory, status] = await this.readPostmasterFile();
    const env = stalePid && sharedMemory && status && status !== 'stopping' ? { PG_GRANDPARENT_PID: stalePid } : {};
    const address = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='];
    const flags = [...settings, ...address].flatMap((setting) => ['-c', setting]);
    const output = await open(log, 'w', 0o600);
    try {
      await this.programs.changeOwner(log);
      const server = this.programs.spawn(
        'postgres',
        ['-D', join(this.folder, 'postgres'), ...flags],
        ['ignore', output.fd, output.fd],
        env,
      );
      await once(server, 'spawn');
      this.process = server.once('exit', () => (this.process = undefined));
      server.unref();
      return server;
    } finally {
      await output.close();
    }
  }

  /** Returns the port of the last server. A failed start removes postmaster.pid, but keeps postmaster.opts with the last command line. */
  private async findLastPort(): Promise<number | undefined> {
    const [, , , port] = await this.readPostmasterFile();
    const options = await readFile(join(this.folder, 'postgres', 'postmaster.opts'), 'utf8').catch(() => '');
    return Number(port || /"port=(\d+)"/.exec(options)?.[1]) || undefined;
  }

  /** Waits until postmaster.pid is removed or another process has started a new server. */
  private async hasStopped(pid: number): Promise<boolean> {
    for (const deadline = performance.now() + STOP_TIMEOUT_MS; performance.now() < deadline; await sleep(POLL_MS)) {
      if (Number((await this.readPostmasterFile())[0]) !== pid) return true;
    }
    return false;
  }

  /** Returns the lines of postmaster.pid: https://www.postgresql.org/docs/18/storage-file-layout.html. */
  private async readPostmasterFile(): Promise<string[]> {
    const text = await readFile(join(this.folder, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
    return text.split('\n').map((line) => line.trim());
  }
}

/** Creates the password file. If several processes do this concurrently, all use the password of the first one. */
async function createPassword(file: string, programs: Programs): Promise<void> {
  const draft = `${file}.${randomBytes(8).toString('hex')}`;
  await writeFile(draft, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600, flush: true });
  await programs.changeOwner(draft);
  await link(draft, file).catch((error: unknown) => {
    if (!existsSync(file)) throw error;
  });
  await rm(draft);
}

/** Creates the folder `postgres` atomically. If several processes do this concurrently, the first one wins. */
async function createData(folder: string, programs: Programs, args: readonly string[]): Promise<void> {
  const data = join(folder, 'postgres');
  const unfinished = await mkdtemp(join(folder, UNFINISHED_PREFIX));
  await programs.changeOwner(unfinished);
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  try {
    await programs.run('initdb', [`--pgdata=${unfinished}`, `--username=${OWNER}`, '--auth=scram-sha-256', ...locale, ...args]);
    await rename(unfinished, data);
  } catch (error) {
    if (!existsSync(data)) throw error;
  }
  if (process.platform !== 'win32') {
    const handle = await open(folder);
    await handle.sync().finally(() => handle.close());
  }
  for (const name of await readdir(folder)) {
    if (name.startsWith(UNFINISHED_PREFIX)) await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Tries to take an advisory lock. Returns false if another session holds it or shares it. */
export async function tryLock(client: Client, key: number): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [key]);
  return rows[0]?.locked === true;
}

/** Whether no other session uses the server. Undefined while a crashed backend holds locks because PostgreSQL has not detected the crash. */
async function isLastUser(client: Client, crashed: number | undefined): Promise<boolean | undefined> {
  if (await tryLock(client, IN_USE_LOCK)) return true;
  const query = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND pid = $2`;
  return (await client.query(query, [IN_USE_LOCK, crashed])).rowCount ? undefined : false;
}

async function createDatabase(client: Client): Promise<void> {
  const find = () => client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
  if ((await find()).rowCount) return;
  await client.query(`CREATE DATABASE ${DATABASE}`).catch(async (error: unknown) => {
    // Ignores the error if another process has created it.
    if (!(await find()).rowCount) throw error;
  });
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM';
  }
}

/** Returns a port below the range for outgoing connections, so that it is free when the server restarts. */
function randomPort(): number {
  return randomInt(20_000, 32_768);
}
