import type { AddressInfo } from 'node:net';
import type { Persistence } from '@animal-store/database';
import type { ServiceLogger } from '../observability/logger.js';
import type { Config } from './config.js';
import { migrate } from './migrate.js';
import { Service } from './service.js';
import { Supervisor } from './supervisor.js';

/** Serves an app in worker processes, each of which runs the program `exec`. This process supervises them, and migrates for them. */
export class WorkerProcesses extends Service {
  private readonly supervisor: Supervisor;

  constructor(
    config: Config,
    logger: ServiceLogger,
    private readonly persistence: readonly Persistence[],
    { exec, env }: { readonly exec: string; readonly env: NodeJS.ProcessEnv },
  ) {
    const { workers, host, port } = config;
    const supervisor = new Supervisor({ workers, host, port, exec, env, logger, onGiveUp: () => process.exit(1) });
    super(config, logger, supervisor);
    this.supervisor = supervisor;
  }

  close(): Promise<void> {
    return this.end(this.supervisor.stop('SIGINT'));
  }

  drain(): Promise<void> {
    return this.end(this.supervisor.stop('SIGTERM', this.config.drainSeconds * 1000));
  }

  protected listen(): Promise<AddressInfo> {
    return this.supervisor.start();
  }

  protected async connect(onReached: () => void): Promise<void> {
    if (this.config.migrateOnStart) await migrate(this.config, this.persistence, this.logger);
    onReached();
    await this.supervisor.reported;
  }

  /** The workers report it themselves. */
  protected reportUnavailable(): void {
    // Intentionally empty.
  }

  protected abandon(): Promise<void> {
    return this.supervisor.stop('SIGTERM');
  }
}
