import { createTestDatabase, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { ServiceProcess } from '@animal-store/test-kit/service-process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { queries, rules } from './testing/files.js';

/** The labels of each metric of the service, with the values that were seen. */
const exported = new Map<string, Map<string, string[]>>([['up', new Map()]]);
/**
 * Labels of the metrics of CloudNativePG (config/manager/default-monitoring.yaml in its repository), of its plugin Barman Cloud
 * (https://cloudnative-pg.io/plugin-barman-cloud/docs/observability/) and of the kubelet, by which a rule must select.
 */
const FOREIGN: Readonly<Record<string, readonly string[]>> = {
  cnpg_pg_replication_streaming_replicas: ['pod'],
  cnpg_pg_stat_archiver_last_failed_time: ['pod'],
  cnpg_pg_stat_archiver_last_archived_time: ['pod'],
  cnpg_backends_total: ['pod'],
  cnpg_pg_settings_setting: ['pod', 'name'],
  barman_cloud_cloudnative_pg_io_last_available_backup_timestamp: ['pod'],
  kubelet_volume_stats_available_bytes: ['persistentvolumeclaim'],
  kubelet_volume_stats_capacity_bytes: ['persistentvolumeclaim'],
};
/** Labels that Prometheus adds to every series of a target. */
const TARGET_LABELS = ['job', 'namespace', 'instance'];
/** Labels of metrics without series, because no context of the service subscribes to events, no request was shed, no list was read, and no job has run. */
const UNSEEN_LABELS: Readonly<Record<string, Readonly<Record<string, string[]>>>> = {
  http_requests_shed_total: { reason: ['pipelined', 'receiving', 'in_flight'] },
  database_replica_reads_total: { served_by: [] },
  job_run_duration_seconds: { job_name: [], outcome: [] },
  event_subscription_lag_seconds: { subscription: [] },
  event_subscription_parked_events: { subscription: [] },
  events_processed_total: { subscription: [] },
  event_failures_total: { subscription: [] },
};

let database: TestDatabase;
let service: ServiceProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await ServiceProcess.start({
    ...{ DATABASE_URL: database.url, ADMIN_PORT: '0', DRAIN_SECONDS: '0' },
    // Nothing listens on port 1. The service then exports all its metrics.
    ...{ REDIS_URL: 'redis://127.0.0.1:1', DATABASE_REPLICA_URLS: 'postgres://127.0.0.1:1/nowhere' },
  });
  const text = await waitFor(async () => {
    // Repeated, because a busy machine responds with 503.
    await (await fetch(`${service.url}/v1/pets`, { headers: { Authorization: 'Bearer wrong' } })).text();
    const metrics = await service.metrics();
    expect(metrics).toContain('status="401"');
    return metrics;
  });
  for (const [, name = '', type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    for (const suffix of type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) {
      exported.set(name + suffix, new Map(Object.entries(UNSEEN_LABELS[name] ?? {})));
    }
  }
  for (const [, name = '', pairs = ''] of text.matchAll(/^(\w+)\{(.*)\} \S+$/gm)) {
    for (const [, label = '', value = ''] of pairs.matchAll(/(\w+)="([^"]*)"/g)) {
      exported.get(name)?.set(label, [...(exported.get(name)?.get(label) ?? []), value]);
    }
  }
});

afterAll(async () => {
  await service.stop('SIGKILL');
  await database.drop();
});

const recorded = rules.flatMap(({ record }) => record ?? []);

/** Returns the metrics that a query reads, with their matchers. */
function selectorsOf(expr: string) {
  const withoutLabels = expr.replaceAll(/\{[^}]*\}/g, '{}').replaceAll(/\b(?:by|without|on|ignoring) \([^)]*\)/g, '');
  const names = withoutLabels.match(/\b[a-z]\w*[_:][\w:]+\b(?! *\()|\bup\b/g) ?? [];
  const selectors = [...expr.matchAll(/\b([a-z][\w:]*)\{([^}]*)\}/g)].map(([, metric = '', matchers = '']) => ({
    metric,
    matchers: [...matchers.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].map(([, label = '', operator = '', value = '']) => ({
      ...{ label, operator, value },
    })),
  }));
  return { names, selectors };
}

describe.each(queries.map(({ usedIn, ...query }) => [usedIn, query] as const))('%s', (_usedIn, { expr, text }) => {
  const { names, selectors } = selectorsOf(expr);

  it('reads metrics that the service exports, that are recorded, or that are listed as foreign', () => {
    expect(names.filter((name) => !exported.has(name) && !recorded.includes(name) && !FOREIGN[name])).toEqual([]);
    expect(selectors.map(({ metric }) => metric)).toEqual(names.filter((name) => !recorded.includes(name)));
  });

  it('selects the targets of the service, or the instances of PostgreSQL, by labels and values that the metrics have', () => {
    for (const { metric, matchers } of selectors) {
      const foreign = FOREIGN[metric];
      if (foreign) expect(matchers.map(({ label }) => label)).toEqual(foreign);
      else expect(matchers).toContainEqual({ label: 'job', operator: '=', value: 'animal-store' });
      for (const { label, operator, value } of foreign ? [] : matchers.filter(({ label }) => !TARGET_LABELS.includes(label))) {
        const patterns = operator.endsWith('~') ? value.split('|') : [value.replaceAll('.', '\\.')];
        const values =
          label === 'status' || label === 'operation' ? ['401', '403', '429', '503', 'none'] : exported.get(metric)?.get(label);
        const matched = patterns.map((pattern): unknown => expect.stringMatching(`^(?:${pattern})$`));
        expect([metric, label, values]).toEqual([metric, label, expect.arrayContaining(matched)]);
      }
    }
  });

  it('groups by labels, and names labels, that the metrics have', () => {
    const labels = [...TARGET_LABELS, ...names.flatMap((name) => [...(exported.get(name)?.keys() ?? []), ...(FOREIGN[name] ?? [])])];
    const grouping = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */));
    const named = [...text.matchAll(/\{\{\s*(\w+)[^}]*\}\}/g)].map(([, label = '']) => label);
    expect(labels).toEqual(expect.arrayContaining([...grouping, ...named]));
  });
});

it('every metric of the platform, and every recorded ratio, is used', () => {
  const base = (metric: string) => metric.replace(/_(?:bucket|sum|count)$/, '');
  const used = new Set(queries.flatMap(({ expr }) => selectorsOf(expr).names.map(base)));
  // Contexts may have others.
  const PLATFORM = /^(?:build|database|events?|http|job|log|redis|service)_|^up$/;
  const names = [...[...exported.keys()].filter((metric) => PLATFORM.test(metric)), ...recorded].map(base);
  expect(names.filter((name) => !used.has(name))).toEqual([]);
});
