import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DataFolder, databaseUrl, ensureDatabase, startInFolder } from '../data-folder.js';

/** A server that keeps what it acknowledged, and that can be killed and started again: for tests of faults. */
export class DurablePostgres {
  private constructor(
    private readonly folder: string,
    private readonly settings: readonly string[],
    private current: DataFolder,
  ) {}

  /** `settings` as on postgres' command line: `name=value`. */
  static async start(settings: readonly string[] = []): Promise<DurablePostgres> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'animal-store-durable-')));
    const postgres = new DurablePostgres(folder, settings, await startInFolder(folder, { durable: true, settings }));
    await ensureDatabase(postgres.url);
    return postgres;
  }

  get url(): string {
    return databaseUrl(this.current.server.port, this.current.password);
  }

  get pid(): number {
    return this.current.server.pid;
  }

  /** A fast shutdown. */
  async stop(): Promise<void> {
    await this.current.server.stop();
  }

  /** kill -9 of the postmaster: its sessions find themselves orphaned and end. */
  async kill(): Promise<void> {
    process.kill(this.current.server.pid, 'SIGKILL');
    await this.current.server.exited;
  }

  /** After `stop` or `kill`, on the same port. */
  async restart(): Promise<void> {
    const { folder, settings } = this;
    this.current = await startInFolder(folder, { durable: true, settings, port: this.current.server.port });
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}
