import { waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { queries, rules } from './testing/files.js';
import { ObservedService } from './testing/observed-service.js';
import { type Matcher, parseQuery } from './testing/queries.js';

/** The series of a metric: for each label, the values that were seen. */
type Labels = ReadonlyMap<string, ReadonlySet<string>>;

const INSTANCE = { pod: 'animal-store-postgres-1' };
const VOLUME = { persistentvolumeclaim: 'animal-store-postgres-1-wal' };

/**
 * Metrics that the service does not export: those of CloudNativePG (config/manager/default-monitoring.yaml in its repository), of its plugin
 * Barman Cloud (https://cloudnative-pg.io/plugin-barman-cloud/docs/observability/) and of the kubelet. Each with the labels that a rule must
 * select, and a value of each.
 */
const FOREIGN_METRICS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cnpg_pg_replication_streaming_replicas: INSTANCE,
  cnpg_pg_stat_archiver_last_failed_time: INSTANCE,
  cnpg_pg_stat_archiver_last_archived_time: INSTANCE,
  cnpg_backends_total: INSTANCE,
  cnpg_pg_settings_setting: { ...INSTANCE, name: 'max_connections' },
  barman_cloud_cloudnative_pg_io_last_available_backup_timestamp: INSTANCE,
  kubelet_volume_stats_available_bytes: VOLUME,
  kubelet_volume_stats_capacity_bytes: VOLUME,
};

/** Labels that Prometheus adds to every series of a target. */
const TARGET_LABELS = ['job', 'namespace', 'instance'];
/** The values after the requests. */
const VALUES = {
  'http_request_duration_seconds_count{operation="createPet",status="201"}': 2,
  'http_request_duration_seconds_count{operation="listPets",status="200"}': 1,
  'http_request_duration_seconds_count{operation="getPet",status="200"}': 1,
  'http_request_duration_seconds_count{operation="listPets",status="401"}': 1,
  'api_keys_rejected_total{code="invalid_api_key"}': 1,
  idempotent_replays_total: 1,
  'database_statement_duration_seconds_count{statement="list pets.pets"}': 1,
  'database_statement_batch_size_sum{statement="insert once pets.pets"}': 2,
  'database_replica_reads_total{served_by="primary"}': 1,
  'database_replica_used{replica="127.0.0.1:1"}': 0,
  redis_connected: 0,
  service_ready: 1,
  'service_not_ready{reason="database"}': 0,
  http_requests_in_flight: 0,
  http_requests_rate_limited_total: 0,
  database_pool_waiting: 0,
  database_migrations_pending: 0,
  'job_run_duration_seconds_count{job_name="idempotency-keys-expire",outcome="success"}': 1,
  'job_period_seconds{job_name="idempotency-keys-expire"}': 60,
};

let service: ObservedService;
let exported: ReturnType<typeof parseMetrics>;
let values: ReadonlyMap<string, number>;
let elapsedSeconds: number;

beforeAll(async () => {
  service = await ObservedService.start();
  const begin = performance.now();
  await service.sendRequests();
  exported = await waitFor(async () => {
    const text = await service.metrics();
    const metrics = parseMetrics(text);
    values = parseValues(text);
    // A response is counted after it is sent.
    expect(Object.fromEntries(values)).toMatchObject(VALUES);
    expect(metrics.get('http_requests_shed_total')?.get('reason')).toContain('pipelined');
    expect(metrics.get('http_request_duration_seconds_count')?.get('status')).toEqual(new Set(['200', '201', '401', '503']));
    // Prometheus creates `up`. No context of the service subscribes to events, so these metrics have no series.
    const subscription = [...metrics.keys()].filter((metric) => /^events?_/.test(metric));
    expect(subscription).toHaveLength(5);
    return new Map([
      ...metrics,
      ['up', new Map()],
      ...Object.entries(FOREIGN_METRICS).map(
        ([metric, labels]) => [metric, new Map(Object.entries(labels).map(([label, value]) => [label, new Set([value])]))] as const,
      ),
      ...subscription.map((metric) => [metric, new Map([['subscription', new Set<string>()]])] as const),
    ]);
  });
  elapsedSeconds = (performance.now() - begin) / 1000;
});

afterAll(() => service.stop());

const recorded = rules.flatMap(({ record }) => record ?? []);
const isRecorded = (metric: string) => recorded.includes(metric);

describe.each(queries.map(({ usedIn, ...query }) => [usedIn, query] as const))('%s', (_usedIn, { expr, text }) => {
  const { selectors, grouping } = parseQuery(expr);
  const read = selectors.filter(({ metric }) => !isRecorded(metric));

  it('reads metrics that the service exports, that are recorded, or that are listed as foreign', () => {
    expect(read.map(({ metric }) => metric).filter((metric) => !exported.has(metric))).toEqual([]);
  });

  it('selects the targets of the service, or the instances of PostgreSQL', () => {
    for (const { metric, matchers } of read) {
      const foreign = FOREIGN_METRICS[metric];
      if (foreign) expect(matchers.map(({ label }) => label)).toEqual(Object.keys(foreign));
      else expect(matchers).toContainEqual({ label: 'job', operator: '=', value: 'animal-store' });
    }
  });

  it('matches labels and values that the metrics have', () => {
    const unknown = read.flatMap(({ metric, matchers }) =>
      matchers
        .filter(({ label }) => !TARGET_LABELS.includes(label))
        .filter((matcher) => ![...(exported.get(metric)?.get(matcher.label) ?? [])].some((value) => namesValue(matcher, value)))
        .map((matcher) => ({ metric, ...matcher })),
    );
    expect(unknown).toEqual([]);
  });

  it('groups by labels, and names labels, that the metrics have', () => {
    const labels = new Set([...TARGET_LABELS, ...read.flatMap(({ metric }) => [...(exported.get(metric)?.keys() ?? [])])]);
    const named = [...text.matchAll(/\{\{\s*(\w+)[^}]*\}\}/g)].map(([, label = '']) => label);
    for (const label of [...grouping, ...named]) expect(labels).toContain(label);
  });
});

it.each(['http_request_duration_seconds', 'database_statement_duration_seconds'])('%s is in seconds', (metric) => {
  const series = [...values.keys()].flatMap((name) => (name.startsWith(`${metric}_sum`) ? name.slice(`${metric}_sum`.length) : []));
  expect(series.length).toBeGreaterThan(3);
  for (const labels of series) {
    const mean = (values.get(`${metric}_sum${labels}`) ?? NaN) / (values.get(`${metric}_count${labels}`) ?? NaN);
    expect(mean).toBeGreaterThan(0);
    expect(mean).toBeLessThan(elapsedSeconds);
  }
});

it.each(['build_info', 'database_migration_info'])('%s is 1', (metric) => {
  expect([...values].flatMap(([series, value]) => (series.startsWith(`${metric}{`) ? value : []))).toEqual([1]);
});

it('every metric that the service defines is used', () => {
  const used = new Set(queries.flatMap(({ expr }) => parseQuery(expr).selectors.map(({ metric }) => metric)));
  const base = (metric: string) => metric.replace(/_(?:bucket|sum|count)$/, '');
  const names = new Set([...used].map(base));
  const unused = [...exported.keys()].map(base).filter((metric) => !/^(?:nodejs|process)_/.test(metric) && !names.has(metric));
  expect(unused).toEqual([]);
});

it('every recorded ratio is used', () => {
  const used = new Set(queries.flatMap(({ expr }) => parseQuery(expr).selectors.map(({ metric }) => metric)));
  expect(recorded.filter((metric) => !used.has(metric))).toEqual([]);
});

/** Returns whether the matcher names the value, to select or to exclude it. */
function namesValue({ operator, value: pattern }: Matcher, value: string): boolean {
  return operator.endsWith('~') ? new RegExp(`^(?:${pattern})$`).test(value) : pattern === value;
}

/** Parses the text format of Prometheus. Returns the labels of each metric, also of those without series. */
function parseMetrics(text: string): ReadonlyMap<string, Labels> {
  const metrics = new Map<string, Map<string, Set<string>>>();
  const metric = (name: string) => {
    const labels = metrics.get(name) ?? new Map<string, Set<string>>();
    metrics.set(name, labels);
    return labels;
  };
  for (const line of text.split('\n')) {
    const [, declared, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (declared !== undefined) {
      const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      for (const suffix of suffixes) metric(declared + suffix);
    }
    const [, name, pairs = ''] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (name === undefined) continue;
    const labels = metric(name);
    for (const [, label = '', value = ''] of pairs.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      const values = labels.get(label) ?? new Set();
      labels.set(label, values.add(value));
    }
  }
  return metrics;
}

/** Returns the value of each series, by its name with its labels. */
function parseValues(text: string): ReadonlyMap<string, number> {
  return new Map([...text.matchAll(/^([a-zA-Z_:].*) (\S+)$/gm)].map(([, series = '', value]) => [series, Number(value)]));
}
