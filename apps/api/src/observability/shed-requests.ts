import type { Logger } from 'pino';
import type { Metrics } from './metrics.js';

const LOG_INTERVAL_MS = 10_000;

/** Counts shed requests. Logs each reason at most once in 10 s. */
export class ShedRequests {
  private readonly loggedAt = new Map<string, number>();

  constructor(
    private readonly metrics: Pick<Metrics, 'requestsShed'>,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  count(reason: string): void {
    this.metrics.requestsShed.inc({ reason });
    const now = performance.now();
    if (now - (this.loggedAt.get(reason) ?? -Infinity) < LOG_INTERVAL_MS) return;
    this.loggedAt.set(reason, now);
    this.logger.warn({ reason }, 'requests are rejected to protect the process');
  }
}
