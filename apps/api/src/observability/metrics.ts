import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { INSUFFICIENT_SCOPE, INVALID_API_KEY, MISSING_API_KEY } from '@animal-store/access-domain';
import type { MigrationState, Replicas, StatementObserver, SubscriptionStatus } from '@animal-store/database';
import type { FastifyInstance } from 'fastify';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Replaced by the bundler in write-bundle.ts. */
declare const BUNDLE: { readonly version: string; readonly commit: string } | undefined;

const MANIFEST = join(import.meta.dirname, '../../package.json');

const DURATION_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const JOB_BUCKETS_S = [0.01, 0.1, 1, 10, 60, 300, 1800];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

const KEY_REJECTIONS: ReadonlySet<string> = new Set([MISSING_API_KEY.code, INVALID_API_KEY.code, INSUFFICIENT_SCOPE.code]);

declare module 'fastify' {
  interface FastifyRequest {
    /** Name of the handler of the route, such as `listPets`, or `listPets_v2` for version 2; undefined on public routes, and if the request did not reach the guards. */
    operation: string | undefined;
    /** Error code of the response. */
    errorCode: string | undefined;
  }
}

/** The Prometheus metrics of this process. docs/operations.md explains the most important ones. */
export class Metrics implements StatementObserver {
  readonly registry = new Registry();

  readonly requestDurations = this.histogram(
    'http_request_duration_seconds',
    'Time from the end of the request headers to the end of the response.',
    ['operation', 'status'],
    DURATION_BUCKETS_S,
  );

  readonly requestsShed = this.counter(
    'http_requests_shed_total',
    'Requests and connections rejected with 503 because of overload, and requests with slow headers.',
    ['reason'],
  );

  readonly keysRejected = this.counter(
    'api_keys_rejected_total',
    'Requests rejected because of a missing or invalid API key, or a missing scope.',
    ['code'],
  );

  readonly requestsLimited = this.counter('http_requests_rate_limited_total', 'Requests rejected with 429.');

  readonly replays = this.counter(
    'idempotent_replays_total',
    'Requests that got the recorded response of an earlier request with the same Idempotency-Key.',
  );

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

  private readonly subscriptionLag = this.gauge(
    'event_subscription_lag_events',
    'Events that the subscription has not handled yet, without the parked ones, up to 10,000.',
    ['subscription'],
  );

  private readonly subscriptionAge = this.gauge(
    'event_subscription_lag_seconds',
    'Age of the oldest event that the subscription has not handled.',
    ['subscription'],
  );

  private readonly subscriptionParked = this.gauge('event_subscription_parked_events', 'Events that are parked after failures.', [
    'subscription',
  ]);

  private readonly statementDurations = this.histogram(
    'database_statement_duration_seconds',
    'Duration of a statement, from waiting for a connection to the last row.',
    ['statement'],
    DURATION_BUCKETS_S,
  );

  private readonly statementBatches = this.histogram(
    'database_statement_batch_size',
    'Number of calls that share an execution of a statement.',
    ['statement'],
    BATCH_BUCKETS,
  );

  constructor() {
    const labels = ['version', 'commit', 'node_version'] as const;
    this.gauge('build_info', 'Always 1; the labels describe the running build.', labels).set(buildInfo(), 1);
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
    this.gauge('redis_connected', '1 while the process counts requests in Redis, otherwise 0.', [], (gauge) =>
      gauge.set(isConnected() ? 1 : 0),
    );
  }

  /** Also logs when a replica is excluded or used again. */
  observeReplicas(replicas: Pick<Replicas, 'observe' | 'problems'>, logger: Logger): void {
    const help = '1 while the process reads lists from the replica, otherwise 0.';
    this.gauge('database_replica_used', help, ['replica'], (gauge) => {
      for (const [replica, problem] of replicas.problems) gauge.set({ replica }, problem === undefined ? 1 : 0);
    });
    const reads = this.counter(
      'database_replica_reads_total',
      'Statements that replicas may serve, by the kind of server that served them.',
      ['served_by'],
    );
    for (const served_by of ['replica', 'primary']) reads.inc({ served_by }, 0);
    replicas.observe({
      read: (servedBy) => reads.inc({ served_by: servedBy }),
      changed: (replica, problem) => {
        if (problem === undefined) logger.info({ replica }, 'reading lists from the replica');
        else logger.warn({ replica, reason: problem }, 'not reading from the replica');
      },
    });
  }

  /** @param read Returns undefined before the state was first read. */
  observeMigrations(read: () => Promise<MigrationState | undefined>): void {
    this.gauge('database_migrations_pending', 'Migrations of this release that are not applied.', [], async (gauge) => {
      const state = await read();
      gauge.set(state?.pending ?? Number.NaN);
    });
    const help = 'Always 1; the label names the newest applied migration.';
    this.gauge('database_migration_info', help, ['latest'], async (gauge) => {
      const latest = (await read())?.latest;
      gauge.reset();
      if (latest !== undefined) gauge.set({ latest }, 1);
    });
  }

  /** @param reasonNow Returns why the process is not ready; undefined if it is. */
  observeReadiness(reasons: readonly string[], reasonNow: () => Promise<string | undefined>): void {
    this.gauge('service_ready', '1 while the process is ready for requests, otherwise 0.', [], async (gauge) => {
      const reason = await reasonNow();
      gauge.set(reason === undefined ? 1 : 0);
    });
    const help = '1 while the process is not ready for this reason, otherwise 0.';
    this.gauge('service_not_ready', help, ['reason'], async (gauge) => {
      const current = await reasonNow();
      for (const reason of reasons) gauge.set({ reason }, reason === current ? 1 : 0);
    });
  }

  /** @param dropped Returns the number of lines that were dropped since the process started. */
  observeLog(dropped: () => number): void {
    const help = 'Log lines that were dropped because standard output did not accept them.';
    const collect = function (this: Counter) {
      this.reset();
      this.inc(dropped());
    };
    new Counter({ name: 'log_lines_dropped_total', help, registers: [this.registry], collect });
  }

  observeInFlight(inFlight: () => number): void {
    const help = 'Requests that are being processed, or whose responses have not been handed to the operating system.';
    this.gauge('http_requests_in_flight', help, [], (gauge) => gauge.set(inFlight()));
  }

  observePool(pool: () => Pool | undefined): void {
    this.gauge('database_pool_connections', 'Connections to PostgreSQL.', ['state'], (gauge) => {
      const { totalCount, idleCount } = pool() ?? { totalCount: 0, idleCount: 0 };
      gauge.set({ state: 'idle' }, idleCount);
      gauge.set({ state: 'used' }, totalCount - idleCount);
    });
    this.gauge('database_pool_waiting', 'Statements that wait for a connection.', [], (gauge) => gauge.set(pool()?.waitingCount ?? 0));
  }

  private histogram<Label extends string>(name: string, help: string, labelNames: Label[], buckets: number[]): Histogram<Label> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }

  private counter<Label extends string>(name: string, help: string, labelNames: Label[] = []): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  /** @param collect sets the value when it is read */
  private gauge<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    collect?: (gauge: Gauge<Label>) => void | Promise<void>,
  ): Gauge<Label> {
    const gauge: Gauge<Label> = new Gauge({ name, help, labelNames, registers: [this.registry], collect: () => collect?.(gauge) });
    return gauge;
  }
}

/** Measures every response after it has been sent. */
export function measureRequests(fastify: FastifyInstance, metrics: Metrics): void {
  fastify.decorateRequest('operation', undefined);
  fastify.decorateRequest('errorCode', undefined);
  fastify.addHook('onResponse', (request, reply, done) => {
    const { operation = 'none', errorCode } = request;
    metrics.requestDurations.observe({ operation, status: reply.statusCode }, reply.elapsedTime / 1000);
    if (errorCode === undefined) {
      if (request.method === 'POST' && reply.hasHeader('idempotent-replayed')) metrics.replays.inc();
    } else if (KEY_REJECTIONS.has(errorCode)) {
      metrics.keysRejected.inc({ code: errorCode });
    } else if (reply.statusCode === 429) {
      metrics.requestsLimited.inc();
    }
    done();
  });
}

/** Returns the labels of the metric `build_info`. Outside a bundle, the commit is unknown. */
function buildInfo(): Readonly<Record<'version' | 'commit' | 'node_version', string>> {
  const { version } = typeof BUNDLE === 'undefined' ? (JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }) : BUNDLE;
  return { version, commit: typeof BUNDLE === 'undefined' ? 'unknown' : BUNDLE.commit, node_version: process.version };
}
