import { once } from 'node:events';
import net from 'node:net';
import { insertKey } from '@animal-store/api-e2e/support/keys';
import { createStoreDatabase, runUntilExit, Service } from '@animal-store/api-e2e/support/service';
import { type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { kill } from '@animal-store/test-kit/service-process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const WORKERS = 2;
const LIMIT = 200;
const CONCURRENT = 20;
/** `ps` reads every process of the machine. */
const WORKER_POLL = { intervalMs: 250 };

let database: TestDatabase;
let service: Service;

beforeAll(async () => {
  database = await createStoreDatabase();
  service = await Service.start(database.url, { WORKERS: String(WORKERS), RATE_LIMIT: String(LIMIT), ADMIN_PORT: '0' });
});

afterAll(async () => {
  await service.stop('SIGKILL');
  await database.drop();
});

const get = async (path: string, key = '') => {
  // A new connection for each request, so that all workers get requests.
  const response = await fetch(service.url + path, { headers: { Authorization: `Bearer ${key}`, Connection: 'close' } });
  await response.arrayBuffer();
  return response.status;
};
const metric = async (line: RegExp) => Number(line.exec(await service.metrics())?.[1]);

describe('a service with two workers', () => {
  it('enforces the rate limit and reports metrics across its workers', async () => {
    const { key } = await insertKey(database.url, 'limited');
    const statuses: number[] = [];
    const startedAt = performance.now();
    for (let i = 0; i < 16; i++) statuses.push(...(await Promise.all(Array.from({ length: CONCURRENT }, () => get('/v1/pets', key)))));
    const seconds = (performance.now() - startedAt) / 1_000;
    const admitted = statuses.filter((status) => status === 200).length;
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(admitted).toBeGreaterThanOrEqual(LIMIT);
    expect(admitted).toBeLessThanOrEqual(LIMIT * 1.1);
    // While a worker is too busy to report, its last values are used.
    await waitFor(async () => {
      expect(await metric(/^http_request_duration_seconds_count\{operation="listPets",status="200"\} (\d+)$/m)).toBe(admitted);
      const totalSeconds = await metric(/^http_request_duration_seconds_sum\{operation="listPets",status="200"\} (\S+)$/m);
      expect(totalSeconds).toBeGreaterThan(0);
      expect(totalSeconds).toBeLessThan(CONCURRENT * seconds);
      // The value of one worker, not the sum.
      expect(await metric(/^build_info\{version="[0-9.]+",commit="[^"]+",node_version="v[0-9.]+"\} (\d+)$/m)).toBe(1);
      expect(await metric(/^database_migrations_pending (\d+)$/m)).toBe(0);
      expect(await metric(/^database_migration_info\{latest="\w+"\} (\d+)$/m)).toBe(1);
      expect(await metric(/^database_statement_batch_size_sum\{statement="list pets.pets"\} (\d+)$/m)).toBeGreaterThan(0);
      expect(await metric(/^http_requests_rate_limited_total (\d+)$/m)).toBe(statuses.length - admitted);
      expect(await metric(/^database_pool_connections\{state="idle"\} (\d+)$/m)).toBeGreaterThanOrEqual(WORKERS);
    });
  });

  it.each([
    ['SIGKILL', 1],
    ['SIGTERM', 2],
  ] as const)('replaces a worker that ends by %s, keeps serving, and forgets no count', async (signal, restarts) => {
    const before = service.workers;
    expect(before).toHaveLength(WORKERS);
    const requests = () => metric(/^http_request_duration_seconds_count\{operation="listPets",status="200"\} (\d+)$/m);
    const counted = await requests();
    expect(counted).toBeGreaterThanOrEqual(LIMIT);
    kill(before.slice(0, 1), signal);
    await waitFor(() => expect(service.workers).not.toEqual(before), WORKER_POLL);
    for (let i = 0; i < 10; i++) expect(await get('/health/live')).toBe(200);
    expect(await requests()).toBe(counted);
    const ready: number[] = [];
    do ready.push(await get('/health/ready'));
    while ((await metric(/^workers_ready (\d+)$/m)) !== WORKERS);
    for (let i = 0; i < 10; i++) ready.push(await get('/health/ready'));
    // Once the service is ready, both workers are.
    expect(ready.join(' ')).toMatch(/^(?:503 )*200(?: 200)*$/);
    await waitFor(async () => {
      expect(await metric(/^workers (\d+)$/m)).toBe(WORKERS);
      expect(await metric(/^workers_ready (\d+)$/m)).toBe(WORKERS);
      expect(await metric(/^worker_restarts_total (\d+)$/m)).toBe(restarts);
    }, WORKER_POLL);
    expect(service.workers).toHaveLength(WORKERS);
    expect(service.workers).not.toContain(before[0]);
    expect(service.output.split('a worker ended unexpectedly')).toHaveLength(restarts + 1);
  });

  // Runs last.
  it('stops all workers and exits with code 0 after SIGTERM', async () => {
    expect(await service.stop('SIGTERM')).toBe(0);
    await expect(fetch(`${service.url}/health/live`)).rejects.toThrow('fetch failed');
  });
});

describe('a service whose workers cannot start', () => {
  it('reports the reason and exits', async () => {
    const holder = net.createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const PORT = String((holder.address() as net.AddressInfo).port);
    const { exitCode, output } = await runUntilExit({ DATABASE_URL: database.url, WORKERS: '2', PORT });
    holder.close();
    expect(exitCode).toBe(1);
    expect(output).toContain(`Port ${PORT} is in use; set PORT to another port.`);
  });
});
