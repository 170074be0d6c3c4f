/** The series of a metric: for each label, the values that were seen. */
type Labels = ReadonlyMap<string, ReadonlySet<string>>;

const INSTANCE = { pod: 'animal-store-postgres-1' };
const VOLUME = { persistentvolumeclaim: 'animal-store-postgres-1-wal' };

/**
 * Metrics that the service does not export: those of CloudNativePG (config/manager/default-monitoring.yaml in its repository), of its plugin
 * Barman Cloud (https://cloudnative-pg.io/plugin-barman-cloud/docs/observability/) and of the kubelet. Each with the labels that a rule must
 * select, and a value of each.
 */
export const FOREIGN_METRICS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cnpg_pg_replication_streaming_replicas: INSTANCE,
  cnpg_pg_replication_lag: INSTANCE,
  cnpg_pg_stat_archiver_last_failed_time: INSTANCE,
  cnpg_pg_stat_archiver_last_archived_time: INSTANCE,
  cnpg_backends_total: INSTANCE,
  cnpg_pg_settings_setting: { ...INSTANCE, name: 'max_connections' },
  barman_cloud_cloudnative_pg_io_last_available_backup_timestamp: INSTANCE,
  kubelet_volume_stats_available_bytes: VOLUME,
  kubelet_volume_stats_capacity_bytes: VOLUME,
};

/** Parses the text format of Prometheus. Returns the labels of each metric, also of those without series. */
export function parseMetrics(text: string): ReadonlyMap<string, Labels> {
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
export function parseValues(text: string): ReadonlyMap<string, number> {
  return new Map([...text.matchAll(/^([a-zA-Z_:].*) (\S+)$/gm)].map(([, series = '', value]) => [series, Number(value)]));
}
