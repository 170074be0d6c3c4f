import cluster from 'node:cluster';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createDataSource, migrateUp } from '@animal-store/database';

import { contexts } from './contexts.js';
import { createApp } from './create-app.js';
import { type AdminServer, type MetricsText, startAdminServer } from './observability/admin-server.js';
import { exposeMetrics } from './observability/expose-metrics.js';
import { createLogger, type ServiceLogger } from './observability/logger.js';
import { Metrics } from './observability/metrics.js';
import { type Config, readConfig } from './process/config.js';
import { drain } from './process/drain.js';
import { explainFailedStart } from './process/explain-failed-start.js';
import { StartupError } from './process/startup-error.js';
import { Supervisor } from './process/supervisor.js';
import { urlOf } from './process/url-of.js';

export { StartupError } from './process/startup-error.js';

export interface RunningService {
  /** http://localhost:3000 */
  readonly url: string;
  /** Stops at once: answers the requests that are there, then closes the pool. */
  close(): Promise<void>;
  /** The same after DRAIN_SECONDS in which requests are served but the service is not ready. */
  drain(): Promise<void>;
}

/**
 * Reads and checks the configuration, migrates and listens. With WORKERS above 1, processes of `main.js` do the serving; this
 * one watches over them, and ends with exit code 1 when they crash again and again.
 * @throws StartupError with one clear line per problem
 */
export async function serve(env: NodeJS.ProcessEnv): Promise<RunningService> {
  const config = readConfig(env);
  const logger = createLogger(config.logLevel, undefined, config.logFormat);
  const isSupervised = config.workers > 1 && cluster.isWorker;
  try {
    if (isSupervised) return await serveInThisProcess(config, logger);
    if (config.migrateOnStart) await migrate(config, logger);
    const service = await (config.workers > 1 ? serveInWorkers(config, env, logger) : serveInThisProcess(config, logger));
    logger.info({ url: service.url }, 'listening');
    return service;
  } catch (error) {
    throw explainFailedStart(error, config);
  }
}

async function serveInThisProcess(config: Config, logger: ServiceLogger): Promise<RunningService> {
  const app = await createApp({ config, logger });
  let admin: AdminServer | undefined;
  try {
    const { registry } = app.get(Metrics);
    exposeMetrics(registry);
    if (!cluster.isWorker) admin = await startAdmin(config, registry, logger);
    // Not by Nest, which writes an error of its own before `explainFailedStart` says it in one line.
    await app.getHttpAdapter().getInstance().listen({ host: config.host, port: config.port });
  } catch (error) {
    await admin?.close();
    await app.close();
    throw error;
  }
  const hurry = new AbortController();
  let ended: Promise<void> | undefined;
  const end = (graceMs: number) => (ended ??= drain(app, { graceMs, hurry: hurry.signal, logger }).then(() => admin?.close()));
  return {
    url: urlOf(app.getHttpServer().address() as AddressInfo),
    close: () => {
      hurry.abort();
      return end(0);
    },
    drain: () => end(config.drainSeconds * 1000),
  };
}

async function serveInWorkers(config: Config, env: NodeJS.ProcessEnv, logger: ServiceLogger): Promise<RunningService> {
  const supervisor = new Supervisor({
    workers: config.workers,
    exec: join(import.meta.dirname, 'main.js'),
    env,
    logger,
    onCrashLoop: () => process.exit(1),
  });
  const admin = await startAdmin(config, supervisor, logger);
  const stop = async (signal: NodeJS.Signals, graceMs?: number) => {
    await supervisor.stop(signal, graceMs);
    await admin?.close();
  };
  try {
    const address = await supervisor.start();
    return { url: urlOf(address), close: () => stop('SIGINT'), drain: () => stop('SIGTERM', config.drainSeconds * 1000) };
  } catch {
    await admin?.close();
    throw new StartupError('The workers could not start; the lines above say why.');
  }
}

async function startAdmin(
  { adminHost: host, adminPort: port }: Config,
  source: MetricsText,
  logger: ServiceLogger,
): Promise<AdminServer | undefined> {
  if (port === undefined) return undefined;
  const admin = await startAdminServer({ host, port }, source);
  logger.info({ host, port: admin.port }, 'metrics');
  return admin;
}

async function migrate(config: Config, logger: ServiceLogger): Promise<void> {
  const dataSource = createDataSource({
    url: config.migrationDatabaseUrl,
    applicationName: 'animal-store-migrations',
    poolSize: 1,
    persistence: contexts.map(({ persistence }) => persistence),
  });
  await dataSource.initialize();
  try {
    const applied = await migrateUp(dataSource, {
      timeoutMs: config.migrationWaitSeconds * 1000,
      onWaiting: () => logger.warn('waiting for another process that is migrating the database'),
    });
    if (applied.length > 0) logger.info({ applied }, 'migrated');
  } finally {
    await dataSource.destroy();
  }
}
