import cluster from 'node:cluster';
import { AggregatorRegistry, collectDefaultMetrics, type Registry } from 'prom-client';

/** Adds what every Node.js process tells of itself; a worker answers its primary process from then on. */
export function exposeMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  if (!cluster.isWorker) return;
  AggregatorRegistry.setRegistries([registry]);
  new AggregatorRegistry();
}
