import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PostgresServer } from '../postgres-server.js';
import { createTemporaryFolder } from './temporary-folder.js';

/** A durable server that can be killed and restarted, for fault tests. */
export class DurablePostgres {
  private constructor(
    private readonly server: PostgresServer,
    private readonly settings: readonly string[],
    private readonly port: number,
  ) {}

  /** Starts a new server. `settings` are for the command line of postgres, as `name=value`. */
  static async start(settings: readonly string[] = []): Promise<DurablePostgres> {
    return DurablePostgres.startIn(await createTemporaryFolder(), settings);
  }

  private static async startIn(folder: string, settings: readonly string[]): Promise<DurablePostgres> {
    const server = await PostgresServer.open(folder);
    const { client, port } = await server.start({ settings });
    await client.end();
    return new DurablePostgres(server, settings, port);
  }

  /** Adds a hot standby. Stops the server to copy its data, then restarts it. */
  async addStandby(settings: readonly string[] = []): Promise<DurablePostgres> {
    const folder = await createTemporaryFolder();
    await this.stop();
    await this.server.copyTo(folder);
    await this.restart();
    await writeFile(join(folder, 'postgres', 'standby.signal'), '');
    return DurablePostgres.startIn(folder, [`primary_conninfo=${this.url}`, ...settings]);
  }

  get url(): string {
    return this.server.url(this.port);
  }

  /** Process id of the running server. */
  get pid(): number {
    const pid = this.server.process?.pid;
    if (pid === undefined) throw new Error('PostgreSQL is not running.');
    return pid;
  }

  /** Stops the server with a fast shutdown. */
  async stop(): Promise<void> {
    const pid = this.server.process?.pid;
    if (pid !== undefined) await this.server.stop(pid);
  }

  /** Kills the postmaster with SIGKILL. Its backends exit when they detect it. */
  async kill(): Promise<void> {
    process.kill(this.pid, 'SIGKILL');
    await this.server.exited();
  }

  /** Restarts the server on the same port after `stop` or `kill`. */
  async restart(): Promise<void> {
    const { client } = await this.server.start({ settings: this.settings, port: this.port });
    await client.end();
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.server.folder, { recursive: true, force: true });
  }
}
