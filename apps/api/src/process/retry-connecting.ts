import { setTimeout } from 'node:timers/promises';
import { mayRecover } from '@animal-store/database';
import type { Logger } from 'pino';

const INITIAL_DELAY_MS = 100;
const MAX_DELAY_MS = 1_000;
const REPORT_INTERVAL_MS = 60_000;

export interface RetryOptions {
  /** Returns a readable message of one line. */
  readonly explain: (error: unknown) => string;
  readonly logger: Logger;
  /** Stops the retries. */
  readonly signal: AbortSignal;
  /** Called after each failure. */
  readonly onUnavailable: () => void;
  /** The default is that of Node.js. */
  readonly sleep?: (ms: number, value: undefined, options: { readonly signal: AbortSignal }) => Promise<unknown>;
}

/**
 * Retries the work until it succeeds. Only retries errors that may end without a change of settings, such as an unavailable database.
 * Logs the first failure, then one failure per minute, and after failures that the database is reached: when the work calls `onReached`,
 * or succeeds.
 * @throws any other error of the work
 */
export async function retryConnecting(
  work: (onReached: () => void) => Promise<void>,
  { explain, logger, signal, onUnavailable, sleep = setTimeout }: RetryOptions,
): Promise<void> {
  let delayMs = INITIAL_DELAY_MS;
  let reportedAt: number | undefined;
  const onReached = () => {
    if (reportedAt !== undefined) logger.info('connected to the database');
    reportedAt = undefined;
  };
  const isStopped = () => signal.aborted;
  while (!isStopped()) {
    try {
      await work(onReached);
      onReached();
      return;
    } catch (error) {
      if (isStopped()) return;
      if (!mayRecover(error)) throw error;
      const now = performance.now();
      if (reportedAt === undefined || now - reportedAt >= REPORT_INTERVAL_MS) {
        reportedAt = now;
        logger.warn(`${explain(error)}; retrying`);
      }
      onUnavailable();
    }
    await sleep(delayMs, undefined, { signal }).catch(() => undefined);
    delayMs = Math.min(2 * delayMs, MAX_DELAY_MS);
  }
}
