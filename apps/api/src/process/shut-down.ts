import { setTimeout as sleep } from 'node:timers/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { Draining } from '../http/connection.js';
import { withDeadline } from '../observability/deadline.js';
import { CLOSE_TIMEOUT_MS, FINISH_TIMEOUT_MS } from './config.js';

export interface ShutdownOptions {
  /** How long new connections are still accepted, so that load balancers notice that the process is not ready. */
  readonly graceMs: number;
  /** Ends the grace period early. */
  readonly endGracePeriod: AbortSignal;
  readonly logger: Logger;
  /** The default is 15 seconds. */
  readonly finishTimeoutMs?: number;
  /** The default is 5 seconds. */
  readonly closeTimeoutMs?: number;
}

/** Makes the process not ready, stops accepting connections after the grace period, finishes pending requests, and closes the app. */
export async function shutDown(
  app: NestFastifyApplication,
  { graceMs, endGracePeriod, logger, finishTimeoutMs = FINISH_TIMEOUT_MS, closeTimeoutMs = CLOSE_TIMEOUT_MS }: ShutdownOptions,
): Promise<void> {
  app.get(Draining).begin();
  logger.info({ graceMs }, 'draining');
  if (graceMs > 0) await sleep(graceMs, undefined, { signal: endGracePeriod }).catch(() => undefined);
  const closed = app.close().then(() => true);
  if (!(await withDeadline(closed, finishTimeoutMs))) {
    logger.warn('requests or jobs did not finish in time; closing connections');
    app.getHttpServer().closeAllConnections();
    await withDeadline(closed, closeTimeoutMs);
  }
  logger.info('stopped');
}
