import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { sanitiseForTerminal } from '@animal-store/access-domain';
import { Database, isDatabaseUnavailable, migrateUp, withDeadline } from '@animal-store/database';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { collectDefaultMetrics } from 'prom-client';
import { type Context, contexts as animalStore } from './registered-contexts.js';
import { createApp } from './create-app.js';
import { Draining } from './http/connection.js';
import { createLogger, type ServiceLogger } from './observability/logger.js';
import { Metrics } from './observability/metrics.js';
import { startAdminServer } from './process/admin-server.js';
import { describeIgnored } from './config/ignored-variables.js';
import { CLOSE_TIMEOUT_MS, type Config, FINISH_TIMEOUT_MS, readConfig } from './config/config.js';
import { explain, listening, StartupError } from './config/startup-errors.js';

export { StartupError } from './config/startup-errors.js';

const INITIAL_DELAY_MS = 100;
const MAX_DELAY_MS = 1_000;
const WARN_INTERVAL_MS = 60_000;

/** Serves the contexts as the program of this process: stops on signals, and exits with code 1 if the service cannot start. */
export async function run(contexts?: readonly Context[]): Promise<void> {
  let service: RunningService | undefined;
  const stop = (how: 'close' | 'drain') => void Promise.resolve(service?.[how]()).then(() => process.exit(0));

  // Orchestrators send SIGTERM, which drains. Ctrl-C closes immediately.
  process.on('SIGTERM', () => stop('drain'));
  process.on('SIGINT', () => stop('close'));

  try {
    service = await start(process.env, contexts);
    await service.ready;
  } catch (error) {
    console.error(sanitiseForTerminal(error instanceof StartupError ? error.message : inspect(error)));
    process.exit(1);
  }
}

/** Resolves when the service listens. It then migrates and connects in the background. @throws StartupError with one line per problem */
export async function start(env: NodeJS.ProcessEnv, contexts = animalStore): Promise<RunningService> {
  const config = readConfig(env, contexts);
  const logger = createLogger(config.logLevel);
  for (const line of describeIgnored(env)) logger.warn(line);
  const service = new RunningService(config, logger, contexts, await createApp({ config, logger, contexts }));
  try {
    await service.listen();
  } catch (error) {
    await service.close();
    throw error;
  }
  return service;
}

/** The methods are in the order in which they are called. */
export class RunningService {
  /** http://127.0.0.1:3000 */
  url = '';
  /** Resolves when the database is connected for the first time, or when the service stops. Rejects if the settings must change first. */
  ready = Promise.resolve();
  private admin: Server | undefined;
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
  ) {}

  async listen(): Promise<void> {
    const { adminHost, adminPort, host, port, reusePort } = this.config;
    const metrics = this.app.get(Metrics);
    collectDefaultMetrics({ register: metrics.registry });
    // Fails if two have the same name.
    metrics.all();
    if (adminPort !== undefined) {
      const server = startAdminServer({ host: adminHost, port: adminPort }, async () => metrics.all().metrics());
      this.admin = await listening(server, 'ADMIN_HOST');
      this.logger.info({ host: adminHost, port: (this.admin.address() as AddressInfo).port }, 'serving metrics');
    }
    // Not with Nest's `listen`, which logs the error itself.
    const fastify = this.app.getHttpAdapter().getInstance();
    const address = { host, port, reusePort };
    this.url = await listening(fastify.listen(address), 'HOST');
    this.ready = this.connect();
    this.ready.catch(() => undefined);
  }

  /** Repeats the attempt while the database is unavailable. */
  private async connect(): Promise<void> {
    const { signal } = this.stopping;
    let isConnected = await this.migrateAndConnect();
    this.logger.info({ url: this.url }, 'listening');
    for (let delayMs = INITIAL_DELAY_MS; !isConnected; delayMs = Math.min(2 * delayMs, MAX_DELAY_MS)) {
      const isStopped = await sleep(delayMs, false, { signal }).catch(() => true);
      isConnected = isStopped || (await this.migrateAndConnect());
    }
  }

  /** Returns false if the database is unavailable. */
  private async migrateAndConnect(): Promise<boolean> {
    const { migrateOnStart, databaseUrl } = this.config;
    try {
      if (migrateOnStart) await this.migrate();
      await this.app.get(Database).open({ onWaiting: () => this.reportReached() });
      this.reportReached();
      return true;
    } catch (error) {
      if (this.stopped) return false;
      const explained = explain(error, databaseUrl) as Error;
      if (isDatabaseUnavailable(error)) {
        this.reportLost(explained);
        return false;
      }
      await this.close();
      throw explained;
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

  private reportReached(): void {
    if (this.warnedAt !== undefined) this.logger.info('connected to the database');
    this.warnedAt = undefined;
  }

  /** Stops without a grace period: finishes pending requests, then closes the database connections. */
  close(): Promise<void> {
    this.endOfGrace.abort();
    return (this.stopped ??= this.stop(0));
  }

  /** Serves requests for DRAIN_SECONDS while not ready, then stops like `close`. */
  drain(): Promise<void> {
    return (this.stopped ??= this.stop(this.config.drainSeconds * 1000));
  }

  /** Makes the process not ready, stops listening after the grace period, finishes pending requests, and closes the app. */
  private async stop(graceMs: number): Promise<void> {
    const { app, logger, admin } = this;
    this.stopping.abort();
    app.get(Draining).isActive = true;
    logger.info({ graceMs }, 'draining');
    await sleep(graceMs, undefined, { signal: this.endOfGrace.signal }).catch(() => undefined);
    const closed = app.close().then(() => true);
    if (!(await withDeadline(closed, FINISH_TIMEOUT_MS))) {
      logger.warn('requests or jobs did not finish in time; closing connections');
      app.getHttpServer().closeAllConnections();
      await withDeadline(closed, CLOSE_TIMEOUT_MS);
    }
    admin?.close().closeAllConnections();
    logger.info('stopped');
    await logger.output.flushed?.();
  }
}
