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

/** Counts shed requests. Logs those shed because of overload, at most one line for each reason in 10 s. */
export class ShedRequests {
  /** The requests of each reason since its last line, while the next line has to wait. */
  private readonly unlogged = new Map<string, number>();

  constructor(
    private readonly metrics: Pick<Metrics, 'requestsShed'>,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  count(reason: string): void {
    this.metrics.requestsShed.inc({ reason });
    if (!(reason in OVERLOAD)) return;
    const unlogged = this.unlogged.get(reason);
    if (unlogged === undefined) this.log(reason, 1);
    else this.unlogged.set(reason, unlogged + 1);
  }

  private log(reason: string, count: number): void {
    this.logger.warn({ reason, count }, `requests rejected with 503: ${OVERLOAD[reason]}`);
    this.unlogged.set(reason, 0);
    setTimeout(() => {
      const unlogged = this.unlogged.get(reason) ?? 0;
      if (unlogged > 0) this.log(reason, unlogged);
      else this.unlogged.delete(reason);
    }, LOG_INTERVAL_MS).unref();
  }
}
