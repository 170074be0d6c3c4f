import { join } from 'node:path';
import { contexts } from './contexts.js';
import type { Context } from './contexts/contexts.module.js';
import { createApp } from './create-app.js';
import { createLogger } from './observability/logger.js';
import { readConfig } from './process/config.js';
import { explainFailedStart } from './process/explain-failed-start.js';
import { fitIntoOpenFiles, openFileLimit } from './process/open-files.js';
import { isWorkerOfSupervisor, type RunningService, SingleProcess, WorkerProcesses } from './process/service.js';

export type { RunningService } from './process/service.js';
export { FAILED_START, StartupError } from './process/startup-error.js';

/** What is served. Another app passes its own contexts and its own program. */
export interface ServedApp {
  readonly contexts: readonly Context[];
  /** The program that worker processes run. It calls `serve` with the same app. */
  readonly main: string;
}

const ANIMAL_STORE: ServedApp = { contexts, main: join(import.meta.dirname, 'main.js') };

/**
 * Starts the service: reads the configuration, listens, migrates and connects. Resolves when the service is ready, or after the first
 * failed attempt if the database is unavailable: the service then retries in the background and responds with 503. With WORKERS above 1,
 * this process supervises workers that run `main`, and exits with code 1 if they crash repeatedly.
 * @param onListening Called when the service listens.
 * @throws StartupError with one line per problem
 */
export async function serve(
  env: NodeJS.ProcessEnv,
  onListening: (service: RunningService) => void = () => undefined,
  app = ANIMAL_STORE,
): Promise<RunningService> {
  const configured = readConfig(env);
  const logger = createLogger(configured.logLevel, undefined, configured.logFormat);
  const isSupervised = isWorkerOfSupervisor(configured);
  // The supervisor logs for its workers.
  const config = fitIntoOpenFiles(configured, openFileLimit(), isSupervised ? undefined : logger);
  const persistence = app.contexts.map((context) => context.persistence);
  try {
    const service =
      config.workers > 1 && !isSupervised
        ? new WorkerProcesses(config, logger, persistence, { exec: app.main, env })
        : new SingleProcess(config, logger, persistence, await createApp({ config, logger, contexts: app.contexts }));
    await service.start(onListening);
    if (!isSupervised) logger.info({ url: service.url }, 'listening');
    return service;
  } catch (error) {
    throw explainFailedStart(error, config);
  }
}
