import { httpRequest } from './http-requests.js';
import type { Catalogue } from './database-server.js';
import { startService } from './targets.js';

/** Measures the milliseconds from process start to the first page several times. The database is running and migrated. */
export async function measureStartTimes(catalogue: Catalogue, times: number): Promise<number[]> {
  const { path, headers } = httpRequest({ operation: 'list', key: 0, limit: 20, status: 'available' }, 'cursor', catalogue.keys);
  const measured: number[] = [];
  for (let i = 0; i < times; i++) {
    const startedAt = performance.now();
    const service = await startService(catalogue, { name: 'started' });
    try {
      const response = await fetch(service.url + path, { headers });
      await response.text();
      if (!response.ok) throw new Error(`the first request returned ${response.status}`);
      measured.push(performance.now() - startedAt);
    } finally {
      await service.stop();
    }
  }
  return measured;
}
