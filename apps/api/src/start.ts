import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { sanitiseForTerminal } from '@animal-store/access-domain';
import { Database, DatabaseConnection, isDatabaseUnavailable, migrateUp } from '@animal-store/database';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { collectDefaultMetrics } from 'prom-client';
import { type Context, contexts as animalStore } from './contexts.js';
import { createApp } from './create-app.js';
import { Draining } from './http/connection.js';
import { withDeadline } from './observability/deadline.js';
import { createLogger, type ServiceLogger } from './observability/logger.js';
import { Metrics } from './observability/metrics.js';
import { type AdminServer, startAdminServer } from './process/admin-server.js';
import { describeIgnored } from './process/ignored-variables.js';
import { CLOSE_TIMEOUT_MS, type Config, FINISH_TIMEOUT_MS, readConfig } from './process/config.js';
import { explain, listenError, StartupError, urlOf } from './process/startup-errors.js';

export { StartupError } from './process/startup-errors.js';

const INITIAL_DELAY_MS = 100;
const MAX_DELAY_MS = 1_000;
const WARN_INTERVAL_MS = 60_000;

export interface RunningService {
  /** http://localhost:3000 */
  readonly url: string;
  /** Resolves when the database is connected for the first time. Rejects if the settings must change first. */
  readonly ready: Promise<void>;
  /** Stops without a grace period: finishes pending requests, then closes the database connections. */
  close(): Promise<void>;
  /** Serves requests for DRAIN_SECONDS while not ready, then stops like `close`. */
  drain(): Promise<void>;
}

/** Serves the contexts as the program of this process: stops on signals, and exits with code 1 if the service cannot start. */
export async function run(contexts?: readonly Context[]): Promise<void> {
  let service: RunningService | undefined;
  const stop = (how: 'close' | 'drain') => void Promise.resolve(service?.[how]()).then(() => process.exit(0));

  // Orchestrators send SIGTERM, which drains. Ctrl-C closes immediately.
  process.on('SIGTERM', () => stop('drain'));
  process.on('SIGINT', () => stop('close'));

  try {
    const { ready } = await start(process.env, (listening) => (service = listening), contexts);
    await ready;
  } catch (error) {
    console.error(sanitiseForTerminal(error instanceof StartupError ? error.message : inspect(error)));
    process.exit(1);
  }
}

/**
 * Starts the service: reads the configuration, listens, migrates and connects. Resolves when the service is ready, or after the first failed
 * attempt if the database is unavailable: the service then retries in the background and responds with 503.
 * @param onListening Called when the service listens.
 * @throws StartupError with one line per problem
 */
export async function start(
  env: NodeJS.ProcessEnv,
  onListening: (service: RunningService) => void = () => undefined,
  contexts = animalStore,
): Promise<RunningService> {
  const config = readConfig(env);
  const logger = createLogger(config.logLevel);
  for (const line of describeIgnored(env)) logger.warn(line);
  const service = new Service(config, logger, contexts, await createApp({ config, logger, contexts }));
  try {
    await service.listen();
  } catch (error) {
    await service.abandon();
    throw error;
  }
  onListening(service);
  await service.connect();
  logger.info({ url: service.url }, 'listening');
  return service;
}

/** The methods are in the order in which they are called. */
class Service implements RunningService {
  url = '';
  private admin: AdminServer | undefined;
  private readonly connected = Promise.withResolvers<void>();
  private readonly stopping = new AbortController();
  private readonly endOfGrace = new AbortController();
  private stopped: Promise<void> | undefined;
  /** Time of the last warning that the database cannot be used. */
  private warnedAt: number | undefined;

  constructor(
    private readonly config: Config,
    private readonly logger: ServiceLogger,
    private readonly contexts: readonly Context[],
    private readonly app: NestFastifyApplication,
  ) {
    this.ready.catch(() => undefined);
  }

  get ready(): Promise<void> {
    return this.connected.promise;
  }

  async listen(): Promise<void> {
    const { adminHost, adminPort, host, port, reusePort } = this.config;
    const { registry } = this.app.get(Metrics);
    collectDefaultMetrics({ register: registry });
    if (adminPort !== undefined) {
      this.admin = await startAdminServer({ host: adminHost, port: adminPort }, registry).catch((error: unknown) => {
        throw listenError(error, 'ADMIN_', adminHost, adminPort);
      });
      this.logger.info({ host: adminHost, port: this.admin.port }, 'serving metrics');
    }
    // Not with Nest's `listen`, which logs the error itself.
    const fastify = this.app.getHttpAdapter().getInstance();
    const address = { host, port, reusePort };
    await fastify.listen(address).catch((error: unknown) => {
      throw listenError(error, '', host, port);
    });
    this.url = urlOf(this.app.getHttpServer().address() as AddressInfo);
  }

  /** Resolves when the database is connected, or after the first failed attempt. */
  async connect(): Promise<void> {
    const retrying = Promise.withResolvers<void>();
    this.keepConnecting(retrying.resolve).then(retrying.resolve, async (error: unknown) => {
      await this.abandon();
      this.connected.reject(error);
    });
    await Promise.race([this.ready, retrying.promise]);
  }

  /** Migrates if configured, and connects. Repeats both while the database is unavailable. */
  private async keepConnecting(onRetry: () => void): Promise<void> {
    const { config, stopping } = this;
    for (let delayMs = INITIAL_DELAY_MS; !stopping.signal.aborted; delayMs = Math.min(2 * delayMs, MAX_DELAY_MS)) {
      try {
        if (config.migrateOnStart) await this.migrate();
        await this.app.get(DatabaseConnection).open({ onWaiting: () => this.reportReached() });
        this.reportReached();
        this.connected.resolve();
        return;
      } catch (error) {
        if (this.stopped) return;
        const explained = explain(error, config.databaseUrl);
        if (!isDatabaseUnavailable(error)) throw explained;
        this.reportLost(explained as Error);
      }
      onRetry();
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  private async migrate(): Promise<void> {
    const { config, logger } = this;
    const database = new Database({
      url: config.migrationDatabaseUrl,
      applicationName: 'animal-store-migrations',
      poolSize: 1,
      connectTimeoutMs: config.databaseConnectTimeoutMs,
      citus: config.citus,
      persistence: this.contexts.map(({ persistence }) => persistence),
    });
    await database.connect();
    try {
      const applied = await migrateUp(database, {
        onDistributed: (table) => {
          if (table === undefined) logger.warn('CITUS is on, but the database lacks the extension citus: no table is distributed');
          else logger.info({ table }, 'distributed a table');
        },
      });
      if (applied.length > 0) logger.info({ applied }, 'migrated');
    } finally {
      await database.destroy();
    }
  }

  /** Logs the first failure, then one failure per minute. */
  private reportLost({ message }: Error): void {
    const now = performance.now();
    if (this.warnedAt !== undefined && now - this.warnedAt < WARN_INTERVAL_MS) return;
    this.warnedAt = now;
    this.logger.warn(`${message}; retrying`);
  }

  /** Logs that the database responds again. */
  private reportReached(): void {
    if (this.warnedAt !== undefined) this.logger.info('connected to the database');
    this.warnedAt = undefined;
  }

  close(): Promise<void> {
    this.endOfGrace.abort();
    return this.stop(0);
  }

  drain(): Promise<void> {
    return this.stop(this.config.drainSeconds * 1000);
  }

  private stop(graceMs: number): Promise<void> {
    return (this.stopped ??= this.shutDown(graceMs));
  }

  /** Makes the process not ready, stops listening after the grace period, finishes pending requests, and closes the app. */
  private async shutDown(graceMs: number): Promise<void> {
    const { app, logger } = this;
    this.stopping.abort();
    app.get(Draining).begin();
    logger.info({ graceMs }, 'draining');
    await sleep(graceMs, undefined, { signal: this.endOfGrace.signal }).catch(() => undefined);
    const closed = app.close().then(() => true);
    if (!(await withDeadline(closed, FINISH_TIMEOUT_MS))) {
      logger.warn('requests or jobs did not finish in time; closing connections');
      app.getHttpServer().closeAllConnections();
      await withDeadline(closed, CLOSE_TIMEOUT_MS);
    }
    logger.info('stopped');
    await this.end();
  }

  /** Ends what a failed start has begun. */
  async abandon(): Promise<void> {
    this.stopping.abort();
    await this.app.close();
    await this.end();
  }

  /** Ends what is not the app, after the app. */
  private async end(): Promise<void> {
    await this.admin?.close();
    await this.logger.output.flushed?.();
  }
}
