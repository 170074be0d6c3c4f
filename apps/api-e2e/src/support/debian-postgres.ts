import { execFile } from 'node:child_process';
import { chown, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '@animal-store/local-postgres/testing';

/** Debian installs each major version in its own subfolder. */
const VERSIONS = '/usr/lib/postgresql';
const NOBODY = 65_534;
const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off'];

/**
 * PostgreSQL as installed by Debian. The PostgreSQL in node_modules has no pg_dump, pg_restore and pg_basebackup, and Debian's programs
 * reject a server that is newer than they are.
 */
export class DebianPostgres {
  private readonly servers = new Set<string>();

  private constructor(
    private readonly bin: string,
    /** Holds all files of the servers. PostgreSQL may write here. */
    readonly folder: string,
  ) {}

  static async find(): Promise<DebianPostgres> {
    const versions = (await readdir(VERSIONS).catch(() => [])).map(Number).sort((one, other) => one - other);
    for (const version of versions.toReversed()) {
      const bin = join(VERSIONS, String(version), 'bin');
      const programs = await readdir(bin).catch((): string[] => []);
      if (!['initdb', 'pg_dump', 'pg_basebackup'].every((program) => programs.includes(program))) continue;
      const folder = await mkdtemp(join(tmpdir(), 'animal-store-backup-'));
      const postgres = new DebianPostgres(bin, folder);
      await postgres.own(folder);
      return postgres;
    }
    throw new Error("there is no PostgreSQL server with pg_dump: install Debian's package postgresql (apt-get install postgresql)");
  }

  /** Runs a client. The variables name the server, as in the documentation: arguments would show a password to other users. */
  runOn(url: string, program: string, ...args: readonly string[]): Promise<string> {
    const { hostname, port, username, password } = new URL(url);
    return this.runWith({ PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: password }, program, args);
  }

  /** Runs a program of PostgreSQL and returns its output. Root runs it as `nobody`, since a server does not start as root. */
  private async runWith(variables: NodeJS.ProcessEnv, program: string, args: readonly string[]): Promise<string> {
    const account = process.getuid?.() === 0 && { uid: NOBODY, gid: NOBODY };
    const options = { cwd: this.folder, env: { ...process.env, ...variables }, ...account };
    const { stdout } = await promisify(execFile)(join(this.bin, program), args, options);
    return stdout;
  }

  async makeFolder(name: string): Promise<string> {
    const path = join(this.folder, name);
    await mkdir(path);
    await this.own(path);
    return path;
  }

  initialise(name: string): Promise<string> {
    return this.runWith({}, 'initdb', ['--pgdata', join(this.folder, name), '--username', 'postgres', '--auth', 'trust', '--no-sync']);
  }

  /** Starts a server on a data folder and returns its URL without a database. */
  async start(name: string, settings: readonly string[] = []): Promise<string> {
    const port = await findFreePort();
    const options = [...SETTINGS, `port=${port}`, ...settings].map((setting) => `-c "${setting}"`).join(' ');
    const data = join(this.folder, name);
    const log = `${data}.log`;
    try {
      await this.runWith({}, 'pg_ctl', ['start', '--wait', '--pgdata', data, '--log', log, '--options', options]);
    } catch (error) {
      throw new Error(`PostgreSQL does not start:\n${await readFile(log, 'utf8')}`, { cause: error });
    }
    this.servers.add(name);
    return `postgres://postgres@127.0.0.1:${port}`;
  }

  async stop(name: string): Promise<void> {
    this.servers.delete(name);
    await this.runWith({}, 'pg_ctl', ['stop', '--wait', '--mode', 'fast', '--pgdata', join(this.folder, name)]);
  }

  async remove(): Promise<void> {
    for (const name of this.servers) await this.stop(name);
    await rm(this.folder, { recursive: true });
  }

  private async own(path: string): Promise<void> {
    if (process.getuid?.() === 0) await chown(path, NOBODY, NOBODY);
  }
}
