import type { MetricObject, MetricValueWithName, Registry } from 'prom-client';

interface Series {
  /** Observations up to each bucket's bound and above the one before it; the last are those above all bounds. */
  readonly counts: Float64Array;
  sum: number;
}

/** A histogram by operation and status for `prom-client`, whose own one takes twenty times as long for an observation. */
export class RequestDurations {
  readonly name = 'http_request_duration_seconds';
  readonly help = 'Time from the request line to the end of the answer.';
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  private readonly series = new Map<string, Map<number, Series>>();

  constructor(private readonly bounds: readonly number[]) {}

  registerIn(registry: Registry): void {
    // The registry asks of a metric only its name, `get` and `reset`.
    registry.registerMetric(this as unknown as Parameters<Registry['registerMetric']>[0]);
  }

  observe(operation: string, status: number, seconds: number): void {
    const series = this.of(operation, status);
    series.sum += seconds;
    let bucket = 0;
    while (bucket < this.bounds.length && seconds > (this.bounds[bucket] ?? 0)) bucket++;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
  }

  get(): Promise<MetricObject & { values: MetricValueWithName<string>[] }> {
    const values = [...this.series].flatMap(([operation, byStatus]) =>
      [...byStatus].flatMap(([status, { counts, sum }]) => {
        const labels = { operation, status };
        let count = 0;
        const buckets = [...this.bounds, '+Inf'].map((le, bucket) => {
          count += counts[bucket] ?? 0;
          return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: count };
        });
        return [
          ...buckets,
          { metricName: `${this.name}_sum`, labels, value: sum },
          { metricName: `${this.name}_count`, labels, value: count },
        ];
      }),
    );
    const { name, help, type, aggregator } = this;
    return Promise.resolve({ name, help, type, aggregator, values } as unknown as MetricObject & { values: MetricValueWithName<string>[] });
  }

  reset(): void {
    this.series.clear();
  }

  private of(operation: string, status: number): Series {
    let byStatus = this.series.get(operation);
    if (!byStatus) this.series.set(operation, (byStatus = new Map<number, Series>()));
    let series = byStatus.get(status);
    if (!series) byStatus.set(status, (series = { counts: new Float64Array(this.bounds.length + 1), sum: 0 }));
    return series;
  }
}
