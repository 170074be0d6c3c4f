import { findPageStarts } from './page-starts.js';
import type { Catalogue } from './database-server.js';
import { startService } from './targets.js';
import { STATUSES, type WorkloadData } from './workloads.js';

export const ROWS = 100_000;
export const KEYS = 20;
/** Maximum number of pages per filter. */
const MAX_PAGES = 200;

/** Starts a service to find where pages begin, and stops it. */
export async function readWorkloadData(catalogue: Catalogue): Promise<WorkloadData> {
  const [key = ''] = catalogue.keys;
  const service = await startService(catalogue, { name: 'workload-data' });
  try {
    const walks = [undefined, ...STATUSES].map((status) => findPageStarts({ url: service.url, key, status, pages: MAX_PAGES }));
    return { rows: catalogue.rows, keys: catalogue.keys.length, pages: await Promise.all(walks) };
  } finally {
    await service.stop();
  }
}
