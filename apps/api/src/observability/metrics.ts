import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SubscriptionStatus } from '@animal-store/database';
import { Counter, Gauge, Histogram, register, Registry } from 'prom-client';

/** Replaced by the bundler in write-bundle.ts. */
declare const BUNDLE: { readonly version: string; readonly commit: string } | undefined;

const MANIFEST = join(import.meta.dirname, '../../package.json');

const DURATION_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const JOB_BUCKETS_S = [0.01, 0.1, 1, 10, 60, 300, 1800];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** The Prometheus metrics of this process. */
export class Metrics {
  readonly registry = new Registry();

  readonly requestDurations = this.histogram(
    'http_request_duration_seconds',
    'Time from the end of the request headers to the end of the response.',
    ['operation', 'status'],
  );

  readonly requestsShed = this.counter('http_requests_shed_total', 'Requests and connections rejected to protect the process.', ['reason']);

  // The label is not named `job`, which Prometheus sets.
  readonly jobDurations = this.histogram(
    'job_run_duration_seconds',
    'Duration of the runs of a background job.',
    ['job_name', 'outcome'],
    JOB_BUCKETS_S,
  );

  readonly jobPeriods = this.gauge('job_period_seconds', 'Period of a background job.', ['job_name']);

  readonly jobSuccesses = this.gauge(
    'job_last_success_timestamp_seconds',
    'Last success of a background job in the deployment, or its first start. The start of the process until it is read.',
    ['job_name'],
  );

  readonly eventsProcessed = this.counter('events_processed_total', 'Events that a subscription handled.', ['subscription']);

  readonly eventFailures = this.counter('event_failures_total', 'Failed attempts to handle an event.', ['subscription']);

  private readonly eventLag = this.gauge('event_subscription_lag_seconds', 'Age of the oldest unhandled event.', ['subscription']);

  private readonly eventsParked = this.gauge('event_subscription_parked_events', 'Events parked after failures.', ['subscription']);

  readonly replicaUsed = this.gauge('database_replica_used', '1 while the process reads lists from the replica.', ['replica']);

  readonly replicaReads = this.counter('database_replica_reads_total', 'Statements that replicas may serve.', ['served_by']);

  readonly statementDurations = this.histogram(
    'database_statement_duration_seconds',
    'Duration of a statement, from waiting for a connection to the last row.',
    ['statement'],
  );

  readonly statementBatches = this.histogram(
    'database_statement_batch_size',
    'Number of calls that share an execution of a statement.',
    ['statement'],
    BATCH_BUCKETS,
  );

  constructor() {
    const labels = ['version', 'commit', 'node_version'] as const;
    this.gauge('build_info', 'Always 1; the labels describe the running build.', labels).set(buildInfo(), 1);
  }

  /** Includes metrics of contexts, from prom-client's default registry. @throws Error if two have the same name */
  all(): Registry {
    return Registry.merge([this.registry, register]);
  }

  setSubscriptions(subscriptions: readonly SubscriptionStatus[]): void {
    this.eventLag.reset();
    this.eventsParked.reset();
    for (const { name: subscription, lagSeconds, parked } of subscriptions) {
      this.eventLag.set({ subscription }, lagSeconds);
      this.eventsParked.set({ subscription }, parked);
    }
  }

  /** Adds a gauge whose value is read at each scrape. */
  observe(name: string, help: string, read: () => number | Promise<number>): void {
    const gauge: Gauge = new Gauge({ name, help, registers: [this.registry], collect: async () => gauge.set(await read()) });
  }

  private histogram<Label extends string>(name: string, help: string, labelNames: Label[], buckets = DURATION_BUCKETS_S): Histogram<Label> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }

  private counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private gauge<Label extends string>(name: string, help: string, labelNames: readonly Label[]): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }
}

/** Returns the labels of the metric `build_info`. Outside a bundle, the commit is unknown. */
function buildInfo(): Readonly<Record<'version' | 'commit' | 'node_version', string>> {
  const { version } = typeof BUNDLE === 'undefined' ? (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }) : BUNDLE;
  return { version, commit: typeof BUNDLE === 'undefined' ? 'unknown' : BUNDLE.commit, node_version: process.version };
}
