import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PostgresServer } from '../postgres-server.js';
import { waitFor } from './wait-for.js';

const SETTINGS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=300'];
const MEMORY = '/dev/shm';
const MIN_FREE_BYTES = 2 ** 31;
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

export interface ThrowAwayPostgres {
  /** URL of an empty database, with a superuser. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a fast server without durability in a temporary folder. It stops when the process exits. */
export async function startThrowAwayPostgres(): Promise<ThrowAwayPostgres> {
  const folder = await createTemporaryFolder(findFastRoot());
  const server = await PostgresServer.open(folder, ['--no-sync']);
  const removeAtExit = () => {
    const pid = processIdOf(server);
    if (pid !== undefined) process.kill(pid, 'SIGQUIT');
    // The server may still write files while it stops.
    rmSync(folder, { recursive: true, force: true, maxRetries: 100, retryDelay: 10 });
  };
  const exitAtSignal = (signal: keyof typeof EXIT_CODES) => {
    process.off(signal, exitAtSignal);
    // Another listener, if there is one, decides when to exit. Otherwise the process exits, as it would by default.
    if (process.listenerCount(signal) === 0) process.exit(EXIT_CODES[signal]);
  };
  const signals = Object.keys(EXIT_CODES) as (keyof typeof EXIT_CODES)[];
  process.once('exit', removeAtExit);
  for (const signal of signals) process.on(signal, exitAtSignal);
  const stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
    process.off('exit', removeAtExit);
    for (const signal of signals) process.off(signal, exitAtSignal);
  };
  await server.start(SETTINGS).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { url: server.url(), stop };
}

function processIdOf({ folder }: PostgresServer): number | undefined {
  const file = join(folder, 'postgres/postmaster.pid');
  return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : undefined;
}

/** A durable server that can be killed and restarted, for fault tests. */
export class DurablePostgres {
  private constructor(
    private readonly server: PostgresServer,
    private readonly settings: readonly string[],
    readonly url: string,
  ) {}

  /** Starts a new server. `settings` are for the command line of postgres, as `name=value`. */
  static async start(settings: readonly string[] = []): Promise<DurablePostgres> {
    return DurablePostgres.startIn(await createTemporaryFolder(), settings);
  }

  private static async startIn(folder: string, settings: readonly string[]): Promise<DurablePostgres> {
    const server = await PostgresServer.open(folder);
    await server.start(settings);
    return new DurablePostgres(server, settings, server.url());
  }

  /** Adds a hot standby. Stops the server to copy its data, then restarts it. */
  async addStandby(settings: readonly string[] = []): Promise<DurablePostgres> {
    const folder = await createTemporaryFolder();
    await this.stop();
    await promisify(execFile)('cp', ['-a', `${this.server.folder}/.`, folder]);
    await this.restart();
    await writeFile(join(folder, 'postgres', 'standby.signal'), '');
    return DurablePostgres.startIn(folder, [`primary_conninfo=${this.url}`, ...settings]);
  }

  /** Process id of the running server. */
  get pid(): number {
    const pid = processIdOf(this.server);
    if (pid === undefined) throw new Error('PostgreSQL is not running.');
    return pid;
  }

  /** Stops the server with a fast shutdown. */
  stop(): Promise<void> {
    return this.server.stop();
  }

  /** Kills the postmaster with SIGKILL. Its backends exit when they detect it. */
  async kill(): Promise<void> {
    const { pid } = this;
    process.kill(pid, 'SIGKILL');
    await waitFor(() => {
      if (isRunning(pid)) throw new Error('The server still runs.');
    });
  }

  /** Restarts the server on the same port after `stop` or `kill`. Waits for the backends of a killed one. */
  restart(): Promise<void> {
    return waitFor(() => this.server.start(this.settings, Number(new URL(this.url).port)));
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.server.folder, { recursive: true, force: true });
  }
}

/**
 * Creates a temporary folder for a server and removes the folders of killed processes. A server that still runs in one shuts down
 * within a minute, when it finds that its postmaster.pid is missing.
 */
async function createTemporaryFolder(root = tmpdir()): Promise<string> {
  for (const name of await readdir(root)) {
    const [, pid] = /^animal-store-postgres-(\d+)-/.exec(name) ?? [];
    if (pid && !isRunning(Number(pid))) await rm(join(root, name), { recursive: true, force: true }).catch(() => undefined);
  }
  return mkdtemp(join(root, `animal-store-postgres-${process.pid}-`));
}

/** Returns a folder in memory if there is space. After the files of a database are deleted, ext4 creates files slowly for minutes. */
function findFastRoot(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize < MIN_FREE_BYTES ? tmpdir() : MEMORY;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM';
  }
}
