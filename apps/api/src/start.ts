import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { sanitiseForTerminal } from '@animal-store/access-domain';
import {
  Database,
  DatabaseConnection,
  formatServer,
  isDatabaseUnavailable,
  MigrationLockError,
  migrateUp,
  type SecretUrl,
} from '@animal-store/database';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { collectDefaultMetrics } from 'prom-client';
import { QueryFailedError } from 'typeorm';
import { type Context, contexts as animalStore } from './contexts.js';
import { createApp } from './create-app.js';
import { Draining } from './http/connection.js';
import { withDeadline } from './observability/deadline.js';
import { createLogger, type ServiceLogger } from './observability/logger.js';
import { Metrics } from './observability/metrics.js';
import { type AdminServer, startAdminServer } from './process/admin-server.js';
import { describeIgnored } from './process/ignored-variables.js';
import { CLOSE_TIMEOUT_MS, type Config, FINISH_TIMEOUT_MS, readConfig, StartupError } from './process/config.js';

export { StartupError } from './process/config.js';

const INITIAL_DELAY_MS = 100;
const MAX_DELAY_MS = 1_000;
const WARN_INTERVAL_MS = 60_000;
/** SQLSTATE of a role that must not migrate. */
const INSUFFICIENT_PRIVILEGE = '42501';
/** SQLSTATEs that can pass by themselves elsewhere, but are mistakes in a statement of a migration. A lock timeout is none. */
const MISTAKES = /^(?:26|3F|42|55(?!P03))/;

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
  const logger = createLogger(config.logLevel, undefined, config.logFormat);
  for (const line of describeIgnored(env)) logger.warn(line);
  const service = new Service(config, logger, contexts, await createApp({ config, logger, contexts }));
  try {
    await service.listen();
    onListening(service);
    await service.connect();
  } catch (error) {
    await service.abandon();
    throw error;
  }
  logger.info({ url: service.url }, 'listening');
  return service;
}

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

  /** Migrates and connects. If the database is unavailable, retries in the background. */
  async connect(): Promise<void> {
    if (await this.tryToConnect()) return;
    this.retryConnecting().catch((error: unknown) => {
      this.connected.reject(error);
      return this.abandon();
    });
  }

  close(): Promise<void> {
    this.endOfGrace.abort();
    return this.stop(0);
  }

  drain(): Promise<void> {
    return this.stop(this.config.drainSeconds * 1000);
  }

  /** Ends what a failed start has begun. */
  async abandon(): Promise<void> {
    this.stopping.abort();
    await this.app.close();
    await this.end();
  }

  private async retryConnecting(): Promise<void> {
    const { signal } = this.stopping;
    let delayMs = INITIAL_DELAY_MS;
    do {
      await sleep(delayMs, undefined, { signal }).catch(() => undefined);
      delayMs = Math.min(2 * delayMs, MAX_DELAY_MS);
    } while (!(await this.tryToConnect()));
  }

  /**
   * Returns whether the database is connected, and migrated if configured, or no longer needed. Logs the first failure, then one
   * failure per minute.
   * @throws StartupError or Error if the settings must change first
   */
  private async tryToConnect(): Promise<boolean> {
    if (this.isStopping()) return true;
    try {
      if (this.config.migrateOnStart) await this.migrate();
      await this.app.get(DatabaseConnection).open({ onWaiting: () => this.reportReached() });
      this.reportReached();
      this.connected.resolve();
      return true;
    } catch (error) {
      if (this.isStopping()) return true;
      const explained = explain(error, this.config.databaseUrl);
      if (!isDatabaseUnavailable(error)) throw explained;
      const now = performance.now();
      if (this.warnedAt === undefined || now - this.warnedAt >= WARN_INTERVAL_MS) {
        this.warnedAt = now;
        this.logger.warn(`${(explained as Error).message}; retrying`);
      }
      return false;
    }
  }

  private isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  /** Logs that the database responds again. */
  private reportReached(): void {
    if (this.warnedAt !== undefined) this.logger.info('connected to the database');
    this.warnedAt = undefined;
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
        timeoutMs: config.migrationWaitSeconds * 1000,
        onWaiting: () => logger.warn('waiting for another process that is migrating the database'),
        onDistributed: (table) => {
          if (table === undefined) logger.warn('CITUS is on, but the database lacks the extension citus: no table is distributed');
          else logger.info({ table }, 'distributed a table');
        },
        onProgress: (line) => logger.warn(line),
      }).catch((error: unknown) => {
        throw explainMigration(error);
      });
      if (applied.length > 0) logger.info({ applied }, 'migrated');
    } finally {
      await database.destroy();
    }
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

  /** Ends what is not the app, after the app. */
  private async end(): Promise<void> {
    await this.admin?.close();
    await this.logger.flushed();
  }
}

/** Returns the URL of a server that listens on this address, for example http://localhost:3000. */
export function urlOf({ address, port }: { address: string; port: number }): string {
  const name = ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(address) ? 'localhost' : address;
  return `http://${name.includes(':') ? `[${name}]` : name}:${String(port)}`;
}

function listenError(error: unknown, prefix: '' | 'ADMIN_', host: string, port: number): StartupError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${String(port)} is in use; set ${prefix}PORT to another port.`,
    EACCES: `Port ${String(port)} requires more privileges; set ${prefix}PORT to 1024 or above.`,
    EADDRNOTAVAIL: `${prefix}HOST ${host} is not an address of this machine; set ${prefix}HOST to an address of this machine, or to 0.0.0.0 for all IPv4 addresses.`,
    ENOTSUP: 'This operating system does not support REUSE_PORT.',
  };
  return new StartupError(reasons[code] ?? `${prefix}HOST ${host} cannot be used: ${message}`);
}

/** Returns a StartupError for errors of a migration that a repetition cannot cure, and other errors unchanged. */
function explainMigration(error: unknown): unknown {
  if (!(error instanceof QueryFailedError)) return error;
  const { code = '' } = error as { code?: string };
  if (code === INSUFFICIENT_PRIVILEGE)
    return new StartupError(
      `The database role lacks the privileges to migrate (${error.message}): run "animal-store migrate up" as the owner first.`,
    );
  if (isDatabaseUnavailable(error) && !MISTAKES.test(code)) return error;
  return new StartupError(`The migrations were not applied: ${error.message}\nin the statement ${error.query}`);
}

/** Returns a StartupError of one line for errors of the database or its settings, and other errors unchanged. */
export function explain(error: unknown, databaseUrl: SecretUrl): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = message.split('\n', 1)[0]?.trim() || code || 'no response';
  if (error instanceof MigrationLockError) return new StartupError(`The migrations were not applied: ${reason}`);
  if (!isDatabaseUnavailable(error)) return error;
  return new StartupError(`The database at ${formatServer(databaseUrl)} cannot be used: ${reason}`);
}
