import { walkPages } from './page-starts.js';
import type { Catalogue } from './stage.js';
import { startService } from './targets.js';
import { STATUSES, type Universe } from './workloads.js';

export const ROWS = 100_000;
export const KEYS = 20;
/** Maximum number of pages that a client reads of a filter. */
const PAGES = 200;

/** Starts a service to find where pages begin, and stops it. */
export async function explore(catalogue: Catalogue): Promise<Universe> {
  const [key = ''] = catalogue.keys;
  const service = await startService(catalogue, { name: 'explored' });
  try {
    const walks = [undefined, ...STATUSES].map((status) => walkPages({ url: service.url, key, status, pages: PAGES }));
    return { rows: catalogue.rows, keys: catalogue.keys.length, pages: await Promise.all(walks) };
  } finally {
    await service.stop();
  }
}
