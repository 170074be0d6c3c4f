import cluster from 'node:cluster';
import { AggregatorRegistry, collectDefaultMetrics, type Registry } from 'prom-client';

/** Adds the default metrics of Node.js. In a worker, also makes the metrics available to the primary process. */
export function exposeMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  if (!cluster.isWorker) return;
  AggregatorRegistry.setRegistries([registry]);
  new AggregatorRegistry();
}
