import type { Logger } from 'pino';
import type { Metrics } from './metrics.js';

const LOG_INTERVAL_MS = 10_000;

export type CountShed = (reason: string) => void;

/** Returns a function that counts a shed request. It logs each reason at most once in 10 s. */
export function shedCounter(metrics: Pick<Metrics, 'requestsShed'>, logger: Pick<Logger, 'warn'>): CountShed {
  const loggedAt = new Map<string, number>();
  return (reason) => {
    metrics.requestsShed.inc({ reason });
    const now = performance.now();
    if (now - (loggedAt.get(reason) ?? -Infinity) < LOG_INTERVAL_MS) return;
    loggedAt.set(reason, now);
    logger.warn({ reason }, 'requests are rejected to protect the process');
  };
}
