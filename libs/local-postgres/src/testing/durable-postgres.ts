import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PostgresServer } from '../postgres-server.js';
import { createTemporaryFolder, isRunning } from './temporary-folder.js';
import { waitFor } from './wait-for.js';

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
    const { pid } = this.server;
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
