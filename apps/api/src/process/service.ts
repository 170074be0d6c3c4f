import cluster from 'node:cluster';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseConnection } from '@animal-store/database';
import { contexts } from './contexts.js';
import { createApp } from './create-app.js';
import { type AdminServer, type MetricsSource, startAdminServer } from './observability/admin-server.js';
import { exposeMetrics } from './observability/expose-metrics.js';
import { createLogger, type ServiceLogger } from './observability/logger.js';
import { Metrics } from './observability/metrics.js';
import { type Config, readConfig } from './process/config.js';
import { migrate } from './process/migrate.js';
import { fitIntoOpenFiles, openFileLimit } from './process/open-files.js';
import { shutDown } from './process/shut-down.js';
import { explainFailedStart } from './process/explain-failed-start.js';
import { retryConnecting } from './process/retry-connecting.js';
import { FAILED_START, StartupError } from './process/startup-error.js';
import { Supervisor } from './process/supervisor.js';
import { urlOf } from './process/url-of.js';
import { canSharePort } from './process/worker-port.js';
import { expectLostChannel, report, reportListening } from './process/worker-report.js';
import { WorkerGroup } from './process/worker-group.js';

export { FAILED_START, StartupError } from './process/startup-error.js';

const persistence = contexts.map((context) => context.persistence);

export interface RunningService {
  /** http://localhost:3000 */
  readonly url: string;
  /** Stops without a grace period: finishes pending requests, then closes the database connections. */
  close(): Promise<void>;
  /** Serves requests for DRAIN_SECONDS while not ready, then stops like `close`. */
  drain(): Promise<void>;
}

/**
 * Starts the service: reads the configuration, listens, migrates and connects. Resolves when the service is ready, or after the first
 * failed attempt if the database is unavailable: the service then retries in the background and responds with 503. With WORKERS above 1,
 * this process supervises workers that run `main.js`, and exits with code 1 if they crash repeatedly.
 * @param onListening Called when the service listens.
 * @throws StartupError with one line per problem
 */
export async function serve(
  env: NodeJS.ProcessEnv,
  onListening: (service: RunningService) => void = () => undefined,
): Promise<RunningService> {
  const configured = readConfig(env);
  const logger = createLogger(configured.logLevel, undefined, configured.logFormat);
  const isSupervised = configured.workers > 1 && cluster.isWorker;
  // The supervisor logs for its workers.
  const config = fitIntoOpenFiles(configured, openFileLimit(), isSupervised ? undefined : logger);
  try {
    const service = await (config.workers > 1 && !isSupervised
      ? serveInWorkers(config, env, logger, onListening)
      : serveInThisProcess(config, logger, onListening));
    if (!isSupervised) logger.info({ url: service.url }, 'listening');
    return service;
  } catch (error) {
    throw explainFailedStart(error, config);
  }
}

async function serveInThisProcess(
  config: Config,
  logger: ServiceLogger,
  onListening: (service: RunningService) => void,
): Promise<RunningService> {
  const isSupervised = config.workers > 1 && cluster.isWorker;
  if (isSupervised) expectLostChannel();
  const app = await createApp({ config, logger });
  if (isSupervised) app.get(WorkerGroup).followSupervisor();
  const stopping = new AbortController();
  let admin: AdminServer | undefined;
  try {
    const { registry } = app.get(Metrics);
    exposeMetrics(registry);
    if (!cluster.isWorker) admin = await startAdmin(config, registry, logger);
    // Not with Nest's `listen`, which logs the error itself, in addition to the line of `explainFailedStart`.
    const address = { host: config.host, port: config.port, reusePort: isSupervised && canSharePort };
    await app.getHttpAdapter().getInstance().listen(address);
    const service = runningService();
    onListening(service);
    if (isSupervised) reportListening(app.getHttpServer().address() as AddressInfo);
    const connection = app.get(DatabaseConnection);
    await startConnecting(config, logger, stopping.signal, {
      work: async (onReached) => {
        // The supervisor migrates for its workers.
        if (config.migrateOnStart && !isSupervised) await migrate(config, persistence, logger);
        await connection.open({ awaitsMigrations: config.migrateOnStart && isSupervised, onWaiting: onReached });
        if (isSupervised) report({ state: 'ready' });
      },
      onUnavailable: () => {
        if (isSupervised) report({ state: 'waiting' });
      },
    });
    return service;
  } catch (error) {
    await admin?.close();
    await app.close();
    throw error;
  }

  function runningService(): RunningService {
    const gracePeriod = new AbortController();
    let ended: Promise<void> | undefined;
    const end = (graceMs: number) => {
      stopping.abort();
      return (ended ??= shutDown(app, { graceMs, endGracePeriod: gracePeriod.signal, logger })
        .then(() => admin?.close())
        .then(() => logger.flushed()));
    };
    return {
      url: urlOf(app.getHttpServer().address() as AddressInfo),
      close: () => {
        gracePeriod.abort();
        return end(0);
      },
      drain: () => end(config.drainSeconds * 1000),
    };
  }
}

async function serveInWorkers(
  config: Config,
  env: NodeJS.ProcessEnv,
  logger: ServiceLogger,
  onListening: (service: RunningService) => void,
): Promise<RunningService> {
  const supervisor = new Supervisor({
    workers: config.workers,
    exec: join(import.meta.dirname, 'main.js'),
    env,
    host: config.host,
    port: config.port,
    logger,
    onGiveUp: () => process.exit(1),
  });
  const admin = await startAdmin(config, supervisor, logger);
  const stopping = new AbortController();
  const stop = async (signal: NodeJS.Signals, graceMs?: number) => {
    stopping.abort();
    await supervisor.stop(signal, graceMs);
    await admin?.close();
    await logger.flushed();
  };
  try {
    const address = await supervisor.start();
    const service = { url: urlOf(address), close: () => stop('SIGINT'), drain: () => stop('SIGTERM', config.drainSeconds * 1000) };
    onListening(service);
    const unavailable = Promise.withResolvers<void>();
    await startConnecting(config, logger, stopping.signal, {
      work: async () => {
        if (config.migrateOnStart) await migrate(config, persistence, logger);
      },
      onUnavailable: unavailable.resolve,
    });
    await Promise.race([supervisor.reported, unavailable.promise]);
    return service;
  } catch (error) {
    await stop('SIGTERM');
    throw error;
  }
}

/** Resolves after the first attempt. While the database is unavailable, retries in the background. */
async function startConnecting(
  config: Config,
  logger: ServiceLogger,
  signal: AbortSignal,
  { work, onUnavailable }: { readonly work: (onReached: () => void) => Promise<void>; readonly onUnavailable: () => void },
): Promise<void> {
  const explain = (error: unknown) => {
    const explained = explainFailedStart(error, config);
    return explained instanceof StartupError ? explained.message : String(explained);
  };
  const unavailable = Promise.withResolvers<void>();
  let isInBackground = false;
  const connected = retryConnecting(work, {
    explain,
    logger,
    signal,
    onUnavailable: () => {
      isInBackground = true;
      onUnavailable();
      unavailable.resolve();
    },
  });
  connected.catch((error: unknown) => {
    if (!isInBackground) return;
    logger.fatal({ err: error }, explain(error));
    process.exit(FAILED_START);
  });
  await Promise.race([connected, unavailable.promise]);
}

async function startAdmin(
  { adminHost: host, adminPort: port }: Config,
  source: MetricsSource,
  logger: ServiceLogger,
): Promise<AdminServer | undefined> {
  if (port === undefined) return undefined;
  const admin = await startAdminServer({ host, port }, source);
  logger.info({ host, port: admin.port }, 'serving metrics');
  return admin;
}
