import cluster from 'node:cluster';
import { collectDefaultMetrics, type Registry } from 'prom-client';
import { reportMetrics } from './worker-metrics.js';

/** Adds the default metrics of Node.js. In a worker, also makes the metrics available to the supervisor. */
export function exposeMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  if (cluster.isWorker) reportMetrics(registry);
}
