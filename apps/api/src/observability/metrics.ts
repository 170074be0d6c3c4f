import type { MigrationState, StatementObserver, SubscriptionStatus } from '@animal-store/database';
import type { Pool } from 'pg';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { buildInfo } from './build-info.js';

const DURATION_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const JOB_BUCKETS_S = [0.01, 0.1, 1, 10, 60, 300, 1800];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** The Prometheus metrics of this process, listed in docs/operations.md. */
export class Metrics implements StatementObserver {
  readonly registry = new Registry();

  readonly requestDurations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the end of the request headers to the end of the response.',
    labelNames: ['operation', 'status'],
    buckets: DURATION_BUCKETS_S,
    registers: [this.registry],
  });

  readonly requestsShed = new Counter({
    name: 'http_requests_shed_total',
    help: 'Requests refused with 503 because of overload.',
    labelNames: ['reason'],
    registers: [this.registry],
  });

  readonly keysRefused = new Counter({
    name: 'api_keys_refused_total',
    help: 'Requests refused because of a missing or invalid API key, or a missing scope.',
    labelNames: ['code'],
    registers: [this.registry],
  });

  readonly requestsLimited = new Counter({
    name: 'http_requests_rate_limited_total',
    help: 'Requests refused with 429.',
    registers: [this.registry],
  });

  readonly replays = new Counter({
    name: 'idempotent_replays_total',
    help: 'Requests that got the recorded response of an earlier request with the same Idempotency-Key.',
    registers: [this.registry],
  });

  // The label is not named `job`, which Prometheus sets.
  readonly jobDurations = new Histogram({
    name: 'job_run_duration_seconds',
    help: 'Duration of the runs of a background job.',
    labelNames: ['job_name', 'outcome'],
    buckets: JOB_BUCKETS_S,
    registers: [this.registry],
  });

  readonly jobPeriods = new Gauge({
    name: 'job_period_seconds',
    help: 'Period of a background job.',
    labelNames: ['job_name'],
    registers: [this.registry],
    aggregator: 'max',
  });

  readonly jobSuccesses = new Gauge({
    name: 'job_last_success_timestamp_seconds',
    help: 'Last success of a background job in the deployment, or its first start. The start of the process until it is read.',
    labelNames: ['job_name'],
    registers: [this.registry],
    aggregator: 'max',
  });
  readonly eventsProcessed = new Counter({
    name: 'events_processed_total',
    help: 'Events that a subscription handled or parked behind another one.',
    labelNames: ['subscription'],
    registers: [this.registry],
  });

  readonly eventFailures = new Counter({
    name: 'event_failures_total',
    help: 'Failed attempts to handle an event.',
    labelNames: ['subscription'],
    registers: [this.registry],
  });

  private readonly subscriptionLag = this.subscriptionGauge('lag_events', 'Events that the subscription has not handled yet.');
  private readonly subscriptionAge = this.subscriptionGauge(
    'lag_seconds',
    'Age of the oldest event that the subscription has not handled.',
  );
  private readonly subscriptionParked = this.subscriptionGauge('parked_events', 'Events that are parked after failures.');

  private readonly statementDurations = new Histogram({
    name: 'database_statement_duration_seconds',
    help: 'Duration of a statement, from waiting for a connection to the last row.',
    labelNames: ['statement'],
    buckets: DURATION_BUCKETS_S,
    registers: [this.registry],
  });

  private readonly statementBatches = new Histogram({
    name: 'database_statement_batch_size',
    help: 'Number of calls that share an execution of a statement.',
    labelNames: ['statement'],
    buckets: BATCH_BUCKETS,
    registers: [this.registry],
  });

  constructor() {
    new Gauge({
      name: 'build_info',
      help: 'Always 1; the labels describe the running build.',
      labelNames: ['version', 'commit', 'node_version'],
      registers: [this.registry],
      aggregator: 'first',
    }).set(buildInfo(), 1);
  }

  executed(statement: string, seconds: number, batchSize: number): void {
    const labels = { statement };
    this.statementDurations.observe(labels, seconds);
    this.statementBatches.observe(labels, batchSize);
  }

  setSubscriptions(subscriptions: readonly SubscriptionStatus[]): void {
    for (const gauge of [this.subscriptionLag, this.subscriptionAge, this.subscriptionParked]) gauge.reset();
    for (const { name: subscription, lag, lagSeconds, parked } of subscriptions) {
      this.subscriptionLag.set({ subscription }, lag);
      this.subscriptionAge.set({ subscription }, lagSeconds);
      this.subscriptionParked.set({ subscription }, parked);
    }
  }

  private subscriptionGauge(what: string, help: string): Gauge<'subscription'> {
    const options = { labelNames: ['subscription'] as const, registers: [this.registry], aggregator: 'max' as const };
    return new Gauge({ name: `event_subscription_${what}`, help, ...options });
  }

  observeRedis(isConnected: () => boolean): void {
    new Gauge({
      name: 'redis_connected',
      help: '1 while every process is connected to Redis, otherwise 0.',
      registers: [this.registry],
      aggregator: 'min',
      collect() {
        this.set(isConnected() ? 1 : 0);
      },
    });
  }

  /** @param problems Returns the problem of each replica, undefined while it is used. */
  observeReplicas(problems: () => ReadonlyMap<string, string | undefined>): Counter<'served_by'> {
    new Gauge({
      name: 'database_replica_used',
      help: '1 while every process reads lists from the replica, otherwise 0.',
      labelNames: ['replica'],
      registers: [this.registry],
      aggregator: 'min',
      collect() {
        for (const [replica, problem] of problems()) this.set({ replica }, problem === undefined ? 1 : 0);
      },
    });
    const reads = new Counter({
      name: 'database_replica_reads_total',
      help: 'Statements that replicas may serve, by the kind of server that served them.',
      labelNames: ['served_by'],
      registers: [this.registry],
    });
    for (const served_by of ['replica', 'primary']) reads.inc({ served_by }, 0);
    return reads;
  }

  /** @param state Returns undefined before the state was first read. */
  observeMigrations(state: () => MigrationState | undefined): void {
    new Gauge({
      name: 'database_migrations_pending',
      help: 'Migrations of this release that are not applied.',
      registers: [this.registry],
      aggregator: 'max',
      collect() {
        this.set(state()?.pending ?? Number.NaN);
      },
    });
    new Gauge({
      name: 'database_migration_info',
      help: 'Always 1; the label names the newest applied migration.',
      labelNames: ['latest'],
      registers: [this.registry],
      aggregator: 'first',
      collect() {
        this.reset();
        const latest = state()?.latest;
        if (latest !== undefined) this.set({ latest }, 1);
      },
    });
  }

  observeInFlight(inFlight: () => number): void {
    new Gauge({
      name: 'http_requests_in_flight',
      help: 'Requests that are being processed, or whose responses have not been handed to the kernel.',
      registers: [this.registry],
      collect() {
        this.set(inFlight());
      },
    });
  }

  observePool(pool: () => Pool | undefined): void {
    new Gauge({
      name: 'database_pool_connections',
      help: 'Connections to PostgreSQL.',
      labelNames: ['state'],
      registers: [this.registry],
      collect() {
        const { totalCount, idleCount } = pool() ?? { totalCount: 0, idleCount: 0 };
        this.set({ state: 'idle' }, idleCount);
        this.set({ state: 'used' }, totalCount - idleCount);
      },
    });
    new Gauge({
      name: 'database_pool_waiting',
      help: 'Statements that wait for a connection.',
      registers: [this.registry],
      collect() {
        this.set(pool()?.waitingCount ?? 0);
      },
    });
  }
}
