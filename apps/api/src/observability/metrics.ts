import type { Pool } from 'pg';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

const DURATION_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What this process tells Prometheus; docs/operations.md lists it. */
export class Metrics {
  readonly registry = new Registry();

  readonly requestDurations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request line to the end of the answer.',
    labelNames: ['operation', 'status'],
    buckets: DURATION_BUCKETS_S,
    registers: [this.registry],
  });

  readonly requestsShed = new Counter({
    name: 'http_requests_shed_total',
    help: 'Requests answered with 503 because of overload.',
    labelNames: ['reason'],
    registers: [this.registry],
  });

  readonly keysRefused = new Counter({
    name: 'api_keys_refused_total',
    help: 'Requests refused for their API key or the lack of one.',
    labelNames: ['code'],
    registers: [this.registry],
  });

  readonly requestsLimited = new Counter({
    name: 'http_requests_rate_limited_total',
    help: 'Requests answered with 429.',
    registers: [this.registry],
  });

  readonly replays = new Counter({
    name: 'idempotent_replays_total',
    help: 'Requests answered with what an earlier one with the same Idempotency-Key was answered.',
    registers: [this.registry],
  });

  observeInFlight(inFlight: () => number): void {
    new Gauge({
      name: 'http_requests_in_flight',
      help: 'Requests that are being worked on, or whose responses have not been handed to the kernel.',
      registers: [this.registry],
      collect() {
        this.set(inFlight());
      },
    });
  }

  observePool(pool: () => Pool): void {
    new Gauge({
      name: 'database_pool_connections',
      help: 'Connections to PostgreSQL.',
      labelNames: ['state'],
      registers: [this.registry],
      collect() {
        const { totalCount, idleCount } = pool();
        this.set({ state: 'idle' }, idleCount);
        this.set({ state: 'used' }, totalCount - idleCount);
      },
    });
    new Gauge({
      name: 'database_pool_waiting',
      help: 'Statements that wait for a connection.',
      registers: [this.registry],
      collect() {
        this.set(pool().waitingCount);
      },
    });
  }
}
