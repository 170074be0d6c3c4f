import cluster from 'node:cluster';
import type { AddressInfo } from 'node:net';
import { DatabaseConnection, type Persistence } from '@animal-store/database';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { collectDefaultMetrics } from 'prom-client';
import type { ServiceLogger } from '../observability/logger.js';
import { Metrics } from '../observability/metrics.js';
import { reportMetrics } from '../observability/worker-metrics.js';
import type { Config } from './config.js';
import { migrate } from './migrate.js';
import { Service } from './service.js';
import { shutDown } from './shut-down.js';
import { canSharePort } from './worker-port.js';
import { expectLostChannel, report, reportListening, WorkerGroup } from './worker-messages.js';

/** Serves an app in this process, which may be the worker of a supervisor. */
export class SingleProcess extends Service {
  private readonly isSupervised: boolean;
  private readonly gracePeriod = new AbortController();
  private ended: Promise<void> | undefined;

  constructor(
    config: Config,
    logger: ServiceLogger,
    private readonly app: NestFastifyApplication,
    private readonly persistence: readonly Persistence[],
  ) {
    const { registry } = app.get(Metrics);
    super(config, logger, registry);
    this.isSupervised = isWorkerOfSupervisor(config);
    collectDefaultMetrics({ register: registry });
    if (cluster.isWorker) reportMetrics(registry);
    if (!this.isSupervised) return;
    expectLostChannel();
    app.get(WorkerGroup).followSupervisor();
  }

  close(): Promise<void> {
    this.gracePeriod.abort();
    return this.shutDown(0);
  }

  drain(): Promise<void> {
    return this.shutDown(this.config.drainSeconds * 1000);
  }

  protected async listen(): Promise<AddressInfo> {
    const { host, port } = this.config;
    // Not with Nest's `listen`, which logs the error itself, in addition to the line of `explainFailedStart`.
    const options = { host, port, reusePort: this.isSupervised && canSharePort };
    await this.app.getHttpAdapter().getInstance().listen(options);
    const address = this.app.getHttpServer().address() as AddressInfo;
    if (this.isSupervised) reportListening(address);
    return address;
  }

  /** The supervisor migrates for its workers. */
  protected async connect(onReached: () => void): Promise<void> {
    const { config, isSupervised } = this;
    if (config.migrateOnStart && !isSupervised) await migrate(config, this.persistence, this.logger);
    await this.app.get(DatabaseConnection).open({ awaitsMigrations: config.migrateOnStart && isSupervised, onWaiting: onReached });
    if (isSupervised) report({ state: 'ready' });
  }

  protected reportUnavailable(): void {
    if (this.isSupervised) report({ state: 'waiting' });
  }

  protected abandon(): Promise<void> {
    return this.app.close();
  }

  private shutDown(graceMs: number): Promise<void> {
    return (this.ended ??= this.end(shutDown(this.app, { graceMs, endGracePeriod: this.gracePeriod.signal, logger: this.logger })));
  }
}

/** Whether a supervisor of this service has started this process. */
export function isWorkerOfSupervisor({ workers }: Pick<Config, 'workers'>): boolean {
  return workers > 1 && cluster.isWorker;
}
