import type { Logger } from 'pino';
import type { Metrics } from './metrics.js';

const LOG_INTERVAL_MS = 10_000;
/** Reasons that are the fault of a single client are only counted. */
const OVERLOAD: Readonly<Record<string, string>> = {
  in_flight: 'MAX_IN_FLIGHT requests are in progress',
  event_loop_lag: 'the event loop is late by more than MAX_EVENT_LOOP_LAG_MS',
  receiving: 'half-received bodies need more than 64 MiB',
  connections: 'MAX_CONNECTIONS connections are open, and none is idle',
};

/** Counts shed requests. Logs overload at most once for each reason in 10 s. */
export class ShedRequests {
  /** When each reason was last logged. */
  private readonly loggedAt = new Map<string, number>();

  constructor(
    private readonly metrics: Pick<Metrics, 'requestsShed'>,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  count(reason: string): void {
    this.metrics.requestsShed.inc({ reason });
    const now = performance.now();
    if (!(reason in OVERLOAD) || now - (this.loggedAt.get(reason) ?? -Infinity) < LOG_INTERVAL_MS) return;
    this.loggedAt.set(reason, now);
    this.logger.warn({ reason }, `requests are rejected with 503: ${OVERLOAD[reason]}`);
  }
}
