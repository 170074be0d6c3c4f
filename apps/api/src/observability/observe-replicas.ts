import type { Replicas } from '@animal-store/database';
import type { Logger } from 'pino';
import type { Metrics } from './metrics.js';

/** Counts reads by the kind of server that served them, and logs when a replica is excluded or used again. */
export function observeReplicas(replicas: Replicas, metrics: Metrics, logger: Logger): void {
  const reads = metrics.observeReplicas(() => replicas.problems);
  replicas.observe({
    read: (servedBy) => {
      reads.inc({ served_by: servedBy });
    },
    changed: (replica, problem) => {
      if (problem === undefined) logger.info({ replica }, 'reading lists from the replica');
      else logger.warn({ replica, reason: problem }, 'not reading from the replica');
    },
  });
}
