import cluster from 'node:cluster';
import type { AddressInfo } from 'node:net';
import { DatabaseConnection, type Persistence } from '@animal-store/database';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { collectDefaultMetrics } from 'prom-client';
import type { ServiceLogger } from '../observability/logger.js';
import { Metrics } from '../observability/metrics.js';
import { reportMetrics } from '../observability/worker-metrics.js';
import { type AdminServer, type MetricsSource, startAdminServer } from './admin-server.js';
import type { Config } from './config.js';
import { explainFailedStart } from './explain-failed-start.js';
import { migrate } from './migrate.js';
import { retryConnecting } from './retry-connecting.js';
import { shutDown } from './shut-down.js';
import { FAILED_START, StartupError } from './startup-error.js';
import { Supervisor } from './supervisor.js';
import { report, reportListening, WorkerGroup } from './worker-messages.js';
import { canSharePort } from './worker-port.js';

export interface RunningService {
  /** http://localhost:3000 */
  readonly url: string;
  /** Resolves when the database is connected for the first time. */
  readonly ready: Promise<void>;
  /** Stops without a grace period: finishes pending requests, then closes the database connections. */
  close(): Promise<void>;
  /** Serves requests for DRAIN_SECONDS while not ready, then stops like `close`. */
  drain(): Promise<void>;
}

/** The start of a service: it listens, then connects to the database. Its requests are served in this process, or by workers. */
abstract class Service implements RunningService {
  url = '';
  private state: 'connecting' | 'retrying' | 'stopping' = 'connecting';
  private readonly retries = new AbortController();
  private readonly firstFailure = Promise.withResolvers<void>();
  private admin: AdminServer | undefined;

  protected constructor(
    protected readonly config: Config,
    protected readonly logger: ServiceLogger,
    protected readonly persistence: readonly Persistence[],
    private readonly metrics: MetricsSource,
  ) {}

  abstract get ready(): Promise<void>;
  abstract close(): Promise<void>;
  abstract drain(): Promise<void>;

  protected abstract listen(): Promise<AddressInfo>;
  /** Migrates and connects. Calls `onReached` as soon as the database responds. */
  protected abstract connect(onReached: () => void): Promise<void>;
  /** Called after each attempt to connect that failed. */
  protected reportUnavailable(): void {
    // Workers report it to their supervisor, and the log has it.
  }
  /** Stops what listens after a failed start. */
  protected abstract abandon(): Promise<void>;

  /**
   * Resolves when the service is ready, or after the first failed attempt to connect. It then retries in the background.
   * @param onListening Called when the service listens.
   */
  async start(onListening: (service: RunningService) => void): Promise<void> {
    try {
      await this.serveMetrics();
      this.url = urlOf(await this.listen());
      onListening(this);
      await Promise.race([this.connectOrRetry(), this.firstFailure.promise]);
    } catch (error) {
      await this.end(this.abandon());
      throw error;
    }
  }

  /** Ends what is not the app, after the app. */
  protected async end(stopped: Promise<void>): Promise<void> {
    this.state = 'stopping';
    this.retries.abort();
    await stopped;
    await this.admin?.close();
    await this.logger.flushed();
  }

  /** The supervisor serves the metrics of its workers. */
  private async serveMetrics(): Promise<void> {
    const { adminHost: host, adminPort: port } = this.config;
    if (port === undefined || cluster.isWorker) return;
    this.admin = await startAdminServer({ host, port }, this.metrics);
    this.logger.info({ host, port: this.admin.port }, 'serving metrics');
  }

  private async connectOrRetry(): Promise<void> {
    try {
      await retryConnecting((onReached) => this.connect(onReached), {
        explain: this.explain,
        logger: this.logger,
        signal: this.retries.signal,
        onUnavailable: () => {
          this.state = 'retrying';
          this.reportUnavailable();
          this.firstFailure.resolve();
        },
      });
    } catch (error) {
      if (this.state !== 'retrying') throw error;
      this.logger.fatal({ err: error }, this.explain(error));
      process.exit(FAILED_START);
    }
  }

  private readonly explain = (error: unknown): string => {
    const explained = explainFailedStart(error, this.config);
    return explained instanceof StartupError ? explained.message : String(explained);
  };
}

/** Serves an app in this process, which may be the worker of a supervisor. */
export class SingleProcess extends Service {
  private readonly isSupervised: boolean;
  private readonly gracePeriod = new AbortController();
  private readonly connected = Promise.withResolvers<void>();
  private ended: Promise<void> | undefined;

  constructor(
    config: Config,
    logger: ServiceLogger,
    persistence: readonly Persistence[],
    private readonly app: NestFastifyApplication,
  ) {
    const { registry } = app.get(Metrics);
    super(config, logger, persistence, registry);
    this.isSupervised = isWorkerOfSupervisor(config);
    collectDefaultMetrics({ register: registry });
    if (cluster.isWorker) reportMetrics(registry);
    if (!this.isSupervised) return;
    // When the supervisor has ended, node:cluster ends the worker; a message that it sends meanwhile must not be an uncaught error.
    cluster.worker?.on('error', () => undefined);
    app.get(WorkerGroup).followSupervisor();
  }

  get ready(): Promise<void> {
    return this.connected.promise;
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
    this.connected.resolve();
  }

  protected override reportUnavailable(): void {
    if (this.isSupervised) report({ state: 'waiting' });
  }

  protected abandon(): Promise<void> {
    return this.app.close();
  }

  private shutDown(graceMs: number): Promise<void> {
    return (this.ended ??= this.end(shutDown(this.app, { graceMs, endGracePeriod: this.gracePeriod.signal, logger: this.logger })));
  }
}

/** Serves an app in worker processes, each of which runs the program `exec`. This process supervises them, and migrates for them. */
export class WorkerProcesses extends Service {
  private readonly supervisor: Supervisor;

  constructor(
    config: Config,
    logger: ServiceLogger,
    persistence: readonly Persistence[],
    { exec, env }: { readonly exec: string; readonly env: NodeJS.ProcessEnv },
  ) {
    const { workers, host, port } = config;
    const supervisor = new Supervisor({ workers, host, port, exec, env, logger, onGiveUp: () => process.exit(1) });
    super(config, logger, persistence, supervisor);
    this.supervisor = supervisor;
  }

  get ready(): Promise<void> {
    return this.supervisor.ready;
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

  protected abandon(): Promise<void> {
    return this.supervisor.stop('SIGTERM');
  }
}

/** Whether a supervisor of this service has started this process. */
export function isWorkerOfSupervisor({ workers }: Pick<Config, 'workers'>): boolean {
  return workers > 1 && cluster.isWorker;
}

/** Returns the URL of a server that listens on this address, for example http://localhost:3000. */
export function urlOf({ address, port }: { address: string; port: number }): string {
  const name = ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(address) ? 'localhost' : address;
  return `http://${name.includes(':') ? `[${name}]` : name}:${String(port)}`;
}
