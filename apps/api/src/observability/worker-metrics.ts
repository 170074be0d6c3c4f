import type { Worker } from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';
import { withDeadline } from './deadline.js';

/** Longer than a worker needs while the database does not respond. Shorter than the scrape timeout of Prometheus. */
const TIMEOUT_MS = 3_000;

/** A metric as `getMetricsAsJSON` returns it. */
interface Metric {
  readonly name: string;
  readonly type: string;
  readonly values: readonly { readonly value: number; readonly labels: object }[];
}

type Snapshot = readonly Metric[];

/** Sent by the supervisor to a worker, which responds with its metrics. */
interface MetricsMessage {
  readonly isMetricsRequest?: boolean;
  readonly metrics?: Snapshot;
}

/** Lets the supervisor read the metrics of this worker. */
export function reportMetrics(registry: Registry): void {
  process.on('message', ({ isMetricsRequest }: MetricsMessage) => {
    if (!isMetricsRequest) return;
    registry.getMetricsAsJSON().then(
      (metrics) => process.send?.({ metrics }),
      // Without a response, the supervisor uses the last values.
      () => undefined,
    );
  });
}

/** The metrics of all workers. Counters and histograms include the last values of workers that have ended, so that none decreases. */
export class WorkerMetrics {
  private readonly last = new Map<Worker, Snapshot>();
  private ended: Snapshot = [];

  /** @param timeoutMs Maximum time that a worker has to report its metrics. The default is 3 seconds. */
  constructor(private readonly timeoutMs = TIMEOUT_MS) {}

  /** Returns the metrics of the workers as text. If a worker does not report in time, its last values are used. */
  async collect(workers: readonly Worker[]): Promise<string> {
    await Promise.all(workers.map((worker) => this.update(worker)));
    return merge([this.ended, ...this.last.values()]).metrics();
  }

  /** Call when a worker has ended. Values that it has not reported are lost. */
  end(worker: Worker): void {
    const totals = this.last.get(worker)?.filter(({ type }) => type === 'counter' || type === 'histogram') ?? [];
    this.last.delete(worker);
    this.ended = merge([this.ended, totals]).getMetricsAsArray() as unknown as Snapshot;
  }

  private async update(worker: Worker): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const onMessage = ({ metrics }: MetricsMessage) => {
      if (!metrics) return;
      this.last.set(worker, metrics);
      resolve();
    };
    worker.on('message', onMessage).once('exit', resolve);
    worker.send({ isMetricsRequest: true } satisfies MetricsMessage, (error) => {
      if (error) resolve();
    });
    await withDeadline(promise, this.timeoutMs);
    worker.off('message', onMessage).off('exit', resolve);
  }
}

function merge(snapshots: readonly Snapshot[]): Registry {
  return AggregatorRegistry.aggregate([...snapshots]);
}
