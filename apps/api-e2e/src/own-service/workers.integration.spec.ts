import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { createTestDatabase, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createKey, runUntilRefused, Service } from '../support/service.js';

const WORKERS = 2;
const LIMIT = 200;

let database: TestDatabase;
let service: Service;
let adminUrl: string;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await Service.start(database.url, { WORKERS: String(WORKERS), RATE_LIMIT: String(LIMIT), ADMIN_PORT: '0' });
  adminUrl = adminUrlOf(service);
});

afterAll(async () => {
  await service.stop('SIGKILL');
  await database.drop();
});

const get = async (path: string, key = '') => {
  // A new connection for each request, so that the workers take turns.
  const response = await fetch(service.url + path, { headers: { Authorization: `Bearer ${key}`, Connection: 'close' } });
  await response.arrayBuffer();
  return response.status;
};
const adminUrlOf = ({ output }: Service) => `http://127.0.0.1:${/"port":(\d+),"msg":"serving metrics"/.exec(output)?.[1]}`;
const metric = async (line: RegExp, url = adminUrl) => Number(line.exec(await (await fetch(`${url}/metrics`)).text())?.[1]);
const workers = (of = service) => {
  const output = execFileSync('ps', ['-A', '-o', 'ppid=,pid='], { encoding: 'utf8' });
  const processes = output.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  return processes.filter(([parent]) => parent === of.pid && parent !== 0).flatMap(([, pid]) => pid ?? []);
};
const kill = (pid = 0, signal: NodeJS.Signals = 'SIGKILL') => {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already exited.
  }
};
const expectTwoWorkers = () =>
  waitFor(async () => expect([workers().length, await metric(/^workers (\d+)$/m)]).toEqual([WORKERS, WORKERS]));

describe('a service with two workers', () => {
  it('enforces the rate limit and reports metrics across its workers', async () => {
    const { key } = await createKey(database.url, 'limited');
    const statuses: number[] = [];
    for (let i = 0; i < 16; i++) statuses.push(...(await Promise.all(Array.from({ length: 20 }, () => get('/v1/pets', key)))));
    const admitted = statuses.filter((status) => status === 200).length;
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(admitted).toBeGreaterThanOrEqual(LIMIT);
    expect(admitted).toBeLessThanOrEqual(LIMIT * 1.1);
    // A scrape fails while a worker is too busy to report.
    await waitFor(async () => {
      expect(await metric(/^http_request_duration_seconds_count\{operation="listPets",status="200"\} (\d+)$/m)).toBe(admitted);
      // The value of one worker, not the sum.
      expect(await metric(/^build_info\{version="[0-9.]+",commit="[^"]+",node_version="v[0-9.]+"\} (\d+)$/m)).toBe(1);
      expect(await metric(/^database_migrations_pending (\d+)$/m)).toBe(0);
      expect(await metric(/^database_migration_info\{latest="\w+"\} (\d+)$/m)).toBe(1);
      expect(await metric(/^database_statement_batch_size_sum\{statement="list pets.pets"\} (\d+)$/m)).toBeGreaterThan(0);
      expect(await metric(/^http_requests_rate_limited_total (\d+)$/m)).toBe(statuses.length - admitted);
      expect(await metric(/^database_pool_connections\{state="idle"\} (\d+)$/m)).toBeGreaterThanOrEqual(WORKERS);
    });
  });

  it('replaces a killed worker and keeps serving', async () => {
    const before = workers();
    expect(before).toHaveLength(WORKERS);
    kill(before[0]);
    await waitFor(() => expect(workers()).not.toEqual(before));
    for (let i = 0; i < 10; i++) expect(await get('/health/ready')).toBe(200);
    await expectTwoWorkers();
    expect(workers()).not.toContain(before[0]);
    await waitFor(async () => expect(await metric(/^worker_restarts_total (\d+)$/m)).toBe(1));
    expect(service.output).toContain('a worker ended unexpectedly');
  });

  it('stops all workers and exits with code 0 after SIGTERM', async () => {
    const started = await Service.start(database.url, { WORKERS: '2' });
    expect(await started.stop('SIGTERM')).toBe(0);
    await expect(fetch(`${started.url}/health/live`)).rejects.toThrow('fetch failed');
  });
});

it.each(['SIGKILL', 'SIGTERM'] as const)('a service logs an error and exits if its workers exit repeatedly: %s', async (signal) => {
  // Two rounds are more than ten exits.
  const many = 6;
  const crashing = await Service.start(database.url, { WORKERS: String(many), ADMIN_PORT: '0' });
  const exit = crashing.exit();
  await waitFor(async () => expect(await metric(/^workers_ready (\d+)$/m, adminUrlOf(crashing))).toBe(many));
  for (const pid of workers(crashing)) kill(pid, signal);
  await waitFor(async () => {
    expect(crashing.output.split('a worker ended unexpectedly')).toHaveLength(many + 1);
    expect(await metric(/^workers_ready (\d+)$/m, adminUrlOf(crashing))).toBe(many);
  });
  for (const pid of workers(crashing)) kill(pid, signal);
  expect(await exit).toBe(1);
  expect(crashing.output).toContain('the workers crash repeatedly; stopping the service');
});

describe('a service whose workers cannot start', () => {
  it('reports the reason and exits', async () => {
    const holder = net.createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const PORT = String((holder.address() as net.AddressInfo).port);
    const { exitCode, output } = await runUntilRefused({ DATABASE_URL: database.url, WORKERS: '2', PORT });
    holder.close();
    expect(exitCode).toBe(1);
    expect(output).toContain(`Port ${PORT} is in use; set PORT to another one.`);
  });
});
