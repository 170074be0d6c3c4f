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

  readonly requestDurations = this.histogram(
    'http_request_duration_seconds',
    'Time from the end of the request headers to the end of the response.',
    DURATION_BUCKETS_S,
    ['operation', 'status'],
  );

  readonly requestsShed = this.counter('http_requests_shed_total', 'Requests refused with 503 because of overload.', 'reason');

  readonly keysRefused = this.counter(
    'api_keys_refused_total',
    'Requests refused because of a missing or invalid API key, or a missing scope.',
    'code',
  );

  readonly requestsLimited = this.counter('http_requests_rate_limited_total', 'Requests refused with 429.');

  readonly replays = this.counter(
    'idempotent_replays_total',
    'Requests that got the recorded response of an earlier request with the same Idempotency-Key.',
  );

  // The label is not named `job`, which Prometheus sets.
  readonly jobDurations = this.histogram('job_run_duration_seconds', 'Duration of the runs of a background job.', JOB_BUCKETS_S, [
    'job_name',
    'outcome',
  ]);

  readonly jobPeriods = this.gauge('job_period_seconds', 'Period of a background job.', 'job_name');

  readonly jobSuccesses = this.gauge(
    'job_last_success_timestamp_seconds',
    'Last success of a background job in the deployment, or its first start. The start of the process until it is read.',
    'job_name',
  );

  readonly eventsProcessed = this.counter(
    'events_processed_total',
    'Events that a subscription handled or parked behind another one.',
    'subscription',
  );

  readonly eventFailures = this.counter('event_failures_total', 'Failed attempts to handle an event.', 'subscription');

  private readonly subscriptionLag = this.gauge(
    'event_subscription_lag_events',
    'Events that the subscription has not handled yet.',
    'subscription',
  );

  private readonly subscriptionAge = this.gauge(
    'event_subscription_lag_seconds',
    'Age of the oldest event that the subscription has not handled.',
    'subscription',
  );

  private readonly subscriptionParked = this.gauge(
    'event_subscription_parked_events',
    'Events that are parked after failures.',
    'subscription',
  );

  private readonly statementDurations = this.histogram(
    'database_statement_duration_seconds',
    'Duration of a statement, from waiting for a connection to the last row.',
    DURATION_BUCKETS_S,
    ['statement'],
  );

  private readonly statementBatches = this.histogram(
    'database_statement_batch_size',
    'Number of calls that share an execution of a statement.',
    BATCH_BUCKETS,
    ['statement'],
  );

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

  private histogram<Label extends string>(name: string, help: string, buckets: number[], labelNames: Label[]): Histogram<Label> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }

  private counter<Label extends string>(name: string, help: string, ...labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private gauge<Label extends string>(name: string, help: string, ...labelNames: Label[]): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: [this.registry], aggregator: 'max' });
  }
}
