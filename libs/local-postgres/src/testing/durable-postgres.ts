import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Cluster } from '../cluster.js';
import { createTemporaryFolder } from './temporary-folder.js';

/** A durable server that can be killed and started again, for tests of faults. */
export class DurablePostgres {
  private constructor(
    private readonly cluster: Cluster,
    private readonly settings: readonly string[],
    private readonly port: number,
  ) {}

  /** `settings` as on the command line of postgres: `name=value`. */
  static async start(settings: readonly string[] = []): Promise<DurablePostgres> {
    return DurablePostgres.startIn(await createTemporaryFolder(), settings);
  }

  private static async startIn(folder: string, settings: readonly string[]): Promise<DurablePostgres> {
    const cluster = await Cluster.open(folder);
    const { client, port } = await cluster.start({ settings });
    await client.end();
    return new DurablePostgres(cluster, settings, port);
  }

  /** Stops the server, copies its data, and starts it again and the copy as its hot standby. */
  async addStandby(settings: readonly string[] = []): Promise<DurablePostgres> {
    const folder = await createTemporaryFolder();
    await this.stop();
    await this.cluster.copyTo(folder);
    await this.restart();
    await writeFile(join(folder, 'postgres', 'standby.signal'), '');
    return DurablePostgres.startIn(folder, [`primary_conninfo=${this.url}`, ...settings]);
  }

  get url(): string {
    return this.cluster.url(this.port);
  }

  /** Of the running server. */
  get pid(): number {
    const pid = this.cluster.server?.pid;
    if (pid === undefined) throw new Error('PostgreSQL is not running.');
    return pid;
  }

  /** A fast shutdown. */
  async stop(): Promise<void> {
    const pid = this.cluster.server?.pid;
    if (pid !== undefined) await this.cluster.stop(pid);
  }

  /** kill -9 of the postmaster. Its sessions end when they notice. */
  async kill(): Promise<void> {
    process.kill(this.pid, 'SIGKILL');
    await this.cluster.exited();
  }

  /** Starts the server again after `stop` or `kill`, on the same port. */
  async restart(): Promise<void> {
    const { client } = await this.cluster.start({ settings: this.settings, port: this.port });
    await client.end();
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.cluster.folder, { recursive: true, force: true });
  }
}
