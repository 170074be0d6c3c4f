import { randomBytes, randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { findErrorMessage, LocalPostgresError } from './local-postgres-error.js';
import { Programs } from './programs.js';

const OWNER = 'animal_store';
const DATABASE = 'animal_store';
const LOCALE = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
const TIMEOUT_S = 60;
const CONNECT_TIMEOUT_MS = 5_000;
/** Below the range for outgoing connections. */
const PORTS = [20_000, 32_768] as const;

export class PostgresServer {
  private constructor(
    readonly folder: string,
    private readonly programs: Programs,
    private readonly password: string,
  ) {}

  /** Opens a data folder, and creates what is missing. `initdbArgs` apply to a new one. */
  static async open(dataDir: string, initdbArgs: readonly string[] = []): Promise<PostgresServer> {
    await mkdir(dataDir, { recursive: true });
    const folder = await realpath(dataDir);
    const programs = await Programs.find(folder);
    const passwordFile = join(folder, 'postgres-password');
    if ((await readdir(folder)).length === 0) {
      await chmod(folder, 0o700);
      await programs.changeOwner(folder);
    }
    if (!existsSync(join(folder, 'postgres'))) {
      await writeFile(passwordFile, randomBytes(24).toString('hex'), { mode: 0o600, flush: true });
      await programs.changeOwner(passwordFile);
      // Complete, or missing: initdb may be killed.
      const unfinished = join(folder, 'postgres.unfinished');
      await rm(unfinished, { recursive: true, force: true });
      const auth = [`--username=${OWNER}`, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
      await programs.run('initdb', folder, [`--pgdata=${unfinished}`, ...auth, ...LOCALE, ...initdbArgs]);
      await rename(unfinished, join(folder, 'postgres'));
    }
    return new PostgresServer(folder, programs, (await readFile(passwordFile, 'utf8')).trim());
  }

  /** Returns the URL of the running server, by default as its owner. */
  url({ user = OWNER, password = this.password, database = DATABASE } = {}): string {
    return `postgres://${user}:${password}@127.0.0.1:${this.readPostmasterFile()[3] ?? ''}/${database}`;
  }

  /** Whether the server runs and accepts connections. The password ensures that it is the server of this folder. */
  isRunning(): Promise<boolean> {
    const connected = this.connect().then((client) => client.end());
    return connected.then(
      () => true,
      () => false,
    );
  }

  /** Starts the server, which must not be running. `settings` are for the command line of postgres, as `name=value`. */
  async start(settings: readonly string[] = [], port: number = randomInt(...PORTS)): Promise<void> {
    const log = join(this.folder, 'postgres.log');
    await writeFile(log, '', { mode: 0o600 });
    await this.programs.changeOwner(log);
    const address = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='];
    const flags = [...settings, ...address].map((setting) => `-c "${setting}"`).join(' ');
    // Relative, because pg_ctl passes the path to a shell.
    await this.control('start', '-l', 'postgres.log', '-o', flags).catch(async (error: unknown) => {
      const output = await readFile(log, 'utf8');
      if (output === '') throw error;
      throw new LocalPostgresError(`PostgreSQL did not start: ${findErrorMessage(output)} See ${log}.`, error);
    });
    const client = await this.connect();
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
    if (!rowCount) await client.query(`CREATE DATABASE ${DATABASE}`);
    await client.end();
  }

  /** Stops the server. It may have ended already. */
  async stop(): Promise<void> {
    if (!existsSync(join(this.folder, 'postgres/postmaster.pid'))) return;
    await this.control('stop', '-m', 'fast').catch(() => this.control('stop', '-m', 'immediate').catch(() => undefined));
  }

  /** Connects to the database `postgres`, as the owner. */
  async connect(): Promise<Client> {
    const options = { application_name: `process ${process.pid}`, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, ssl: false };
    const client = new Client({ connectionString: this.url({ database: 'postgres' }), ...options });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  private control(command: string, ...args: readonly string[]): Promise<void> {
    return this.programs.run('pg_ctl', this.folder, [command, '-w', '-t', String(TIMEOUT_S), ...args]);
  }

  /** Returns the lines of postmaster.pid: https://www.postgresql.org/docs/18/storage-file-layout.html. */
  private readPostmasterFile(): string[] {
    const file = join(this.folder, 'postgres/postmaster.pid');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  }
}
