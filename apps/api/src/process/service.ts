import cluster from 'node:cluster';
import type { AddressInfo } from 'node:net';
import type { ServiceLogger } from '../observability/logger.js';
import { type AdminServer, type MetricsSource, startAdminServer } from './admin-server.js';
import type { Config } from './config.js';
import { explainFailedStart } from './explain-failed-start.js';
import { retryConnecting } from './retry-connecting.js';
import { FAILED_START, StartupError } from './startup-error.js';

export interface RunningService {
  /** http://localhost:3000 */
  readonly url: string;
  /** Stops without a grace period: finishes pending requests, then closes the database connections. */
  close(): Promise<void>;
  /** Serves requests for DRAIN_SECONDS while not ready, then stops like `close`. */
  drain(): Promise<void>;
}

/** The start of a service: it listens, then connects to the database. Its requests are served in this process, or by workers. */
export abstract class Service implements RunningService {
  url = '';
  private state: 'connecting' | 'retrying' | 'stopping' = 'connecting';
  private readonly retries = new AbortController();
  private readonly firstFailure = Promise.withResolvers<void>();
  private admin: AdminServer | undefined;

  protected constructor(
    protected readonly config: Config,
    protected readonly logger: ServiceLogger,
    private readonly metrics: MetricsSource,
  ) {}

  abstract close(): Promise<void>;
  abstract drain(): Promise<void>;

  protected abstract listen(): Promise<AddressInfo>;
  /** Migrates and connects. Calls `onReached` as soon as the database responds. */
  protected abstract connect(onReached: () => void): Promise<void>;
  /** Called after each attempt to connect that failed. */
  protected abstract reportUnavailable(): void;
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

/** Returns the URL of a server that listens on this address, for example http://localhost:3000. */
export function urlOf({ address, port }: { address: string; port: number }): string {
  const name = ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(address) ? 'localhost' : address;
  return `http://${name.includes(':') ? `[${name}]` : name}:${String(port)}`;
}
