import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Service } from '@animal-store/api-e2e/support/service';
import { findFreePort, waitFor } from '@animal-store/local-postgres/testing';
import { kill } from '@animal-store/test-kit/service-process';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Outage } from './support/outage.js';

// Not part of `npm test`, since it starts dozens of workers. apps/api tests the supervisor in the process.

/** Connections without a request, more than the processes have file descriptors. */
const STRANGERS = 600;
/** More exits of ready workers than a supervisor accepts per minute. */
const MAX_CRASHES = 12;
/** `ps` reads every process of the machine. */
const WORKER_POLL = { intervalMs: 250 };

let outage: Outage;

beforeEach(async () => {
  outage = await Outage.prepare();
});
afterEach(() => outage.end());

/** Returns the number of open file descriptors of a process. */
const openFilesOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

/** Limits the file descriptors of a running process. The limit can be raised again. */
const limitOpenFiles = (pid: number, limit: number) => execFileSync('prlimit', ['--pid', String(pid), `--nofile=${limit}:`]);

/** Returns whether a process runs. One that has ended may still be listed, until its parent has noticed that. */
function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return !/^(?:Z|$)/.test(stdout.trim());
}

/** Returns the times of the logged exits in milliseconds. */
const exitsOf = ({ output }: Service) =>
  [...output.matchAll(/"time":(\d+),.*"a worker ended unexpectedly"/g)].map(([, time]) => Number(time));

describe('two workers', () => {
  it.each(['at the start', 'later'])('are replaced however often they are killed while the database cannot be reached %s', async (when) => {
    if (when === 'at the start') await outage.proxy.cut();
    const service = await outage.start({ WORKERS: '2' });
    await outage.proxy.cut();
    await waitFor(() => {
      kill(service.workers);
      expect(exitsOf(service).length).toBeGreaterThan(MAX_CRASHES);
    }, WORKER_POLL);
    await waitFor(() => outage.expectWaiting());
    const times = exitsOf(service);
    // The two workers share one restart delay, which doubles from 0.1 to 2 s. No upper bound, since a busy machine is slower.
    expect((times[MAX_CRASHES] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(5_000);
    await outage.proxy.restore();
    await outage.expectServing();
    expect(service.output).not.toContain('stopping the service');
  });
});

it('a service with two workers waits for another migrating process, exits after MIGRATION_WAIT_SECONDS with code 1, and logs it once', () =>
  outage.expectEndOfMigrationWait({ WORKERS: '2' }));

it.each(['SIGKILL', 'SIGTERM'] as const)('a service logs an error and exits if its workers exit repeatedly: %s', async (signal) => {
  // Two rounds are more than ten exits.
  const many = 6;
  const service = await outage.start({ WORKERS: String(many), ADMIN_PORT: '0' });
  const allReady = async () => expect(await service.metrics()).toMatch(new RegExp(`^workers_ready ${String(many)}$`, 'm'));
  const exit = service.exit();
  await waitFor(allReady, WORKER_POLL);
  kill(service.workers, signal);
  await waitFor(async () => {
    expect(exitsOf(service)).toHaveLength(many);
    await allReady();
  }, WORKER_POLL);
  kill(service.workers, signal);
  expect(await exit).toBe(1);
  expect(service.output).toContain('the workers crash repeatedly; stopping the service');
});

/** Opens connections without sending a request, and closes them later. */
async function openAndClose(url: string, count: number): Promise<void> {
  const { port } = new URL(url);
  const sockets = Array.from({ length: count }, () => connect(Number(port), '127.0.0.1').on('error', () => undefined));
  await sleep(1_500);
  for (const socket of sockets) socket.destroy();
}

it.each([1, 2])('%i process(es) that ran out of file descriptors serve again, and stop with code 0', async (workers) => {
  const service = await outage.start({ WORKERS: String(workers) }, outage.database.url);
  await outage.expectServing();
  const pids = [service.pid, ...service.workers];
  for (const pid of pids) limitOpenFiles(pid, openFilesOf(pid) + 40);
  for (let round = 0; round < 3; round++) await openAndClose(service.url, STRANGERS);
  for (const pid of pids) limitOpenFiles(pid, 1_024);
  await waitFor(async () => expect((await outage.get('/health/ready')).status).toBe(200));
  for (let i = 0; i < 40; i++) expect((await outage.get('/health/live')).status).toBe(200);
  for (const pid of pids) expect(openFilesOf(pid)).toBeLessThan(100);
  expect(await service.stop('SIGTERM')).toBe(0);
});

it('a worker that cannot be started is started as soon as it can be', async () => {
  const service = await outage.start({ WORKERS: '2' }, outage.database.url);
  await outage.expectServing();
  limitOpenFiles(service.pid, openFilesOf(service.pid));
  kill(service.workers);
  await waitFor(() => expect(service.output).toContain('a worker process could not be started'));
  limitOpenFiles(service.pid, 1_024);
  await outage.expectServing();
  expect(await service.stop('SIGTERM')).toBe(0);
});

it('a worker that hangs is replaced, and meanwhile its last metrics are reported', async () => {
  const service = await outage.start({ WORKERS: '2', ADMIN_PORT: '0' }, outage.database.url);
  await outage.expectServing();
  const count = (text: string) =>
    Number(/^http_request_duration_seconds_count\{operation="listPets",status="200"\} (\d+)$/m.exec(text)?.[1]);
  const counted = count(await service.metrics());
  expect(counted).toBeGreaterThan(0);
  const [hung = 0] = service.workers;
  kill([hung], 'SIGSTOP');
  expect(count(await service.metrics())).toBe(counted);
  await waitFor(() => expect(service.output).toContain('a worker does not respond; killing it'));
  await outage.expectServing();
  expect(count(await service.metrics())).toBeGreaterThan(counted);
  expect(service.workers).not.toContain(hung);
  kill(service.workers, 'SIGSTOP');
  const stoppedAt = performance.now();
  expect(await service.stop('SIGTERM')).toBe(0);
  expect(performance.now() - stoppedAt).toBeLessThan(20_000);
});

it('workers end with a killed supervisor, and another service can use the port at once', async () => {
  const service = await outage.start({ WORKERS: '2' }, outage.database.url);
  await outage.expectServing();
  const workers = service.workers;
  await service.stop('SIGKILL');
  const { port } = new URL(service.url);
  outage.service = Service.startOn(Number(port), { DATABASE_URL: outage.database.url, WORKERS: '2', DRAIN_SECONDS: '0' });
  await waitFor(() => outage.expectServing());
  expect(workers.filter(isRunning)).toEqual([]);
});

it('a service that stops while its workers start leaves none of them', async () => {
  const settings = { DATABASE_URL: outage.database.url, WORKERS: '2', DRAIN_SECONDS: '0' };
  const service = (outage.service = Service.startOn(await findFreePort(), settings));
  let workers: readonly number[] = [];
  await waitFor(
    () => {
      workers = service.workers;
      expect(workers.length).toBeGreaterThan(0);
    },
    { intervalMs: 10 },
  );
  kill(workers, 'SIGSTOP');
  expect(await service.stop('SIGTERM')).toBe(0);
  await waitFor(() => expect(workers.filter(isRunning)).toEqual([]));
});
