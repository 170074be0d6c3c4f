import type { Service } from '@animal-store/api-e2e/support/service';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Outage } from './support/outage.js';
import { kill, WORKER_POLL, workersOf } from './support/workers.js';

// Not part of `npm test`, since it starts dozens of workers. apps/api tests the supervisor in the process.

/** More exits of ready workers than a supervisor accepts per minute. */
const MAX_CRASHES = 12;

let outage: Outage;

beforeEach(async () => {
  outage = await Outage.prepare();
});
afterEach(() => outage.end());

/** Returns the times of the logged exits in milliseconds. */
const exitsOf = ({ output }: Service) =>
  [...output.matchAll(/"time":(\d+),.*"a worker ended unexpectedly"/g)].map(([, time]) => Number(time));

// Promise (Starting and stopping): Ready workers that exit are replaced immediately, others after at most 2 s.
describe('two workers', () => {
  it.each(['at the start', 'later'])('are replaced however often they are killed while the database cannot be reached %s', async (when) => {
    if (when === 'at the start') await outage.proxy.cut();
    const service = await outage.start({ WORKERS: '2' });
    await outage.proxy.cut();
    await waitFor(() => {
      kill(workersOf(service));
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

// Promise (Starting and stopping): 11 exits of ready workers within a minute end the service.
it.each(['SIGKILL', 'SIGTERM'] as const)('a service logs an error and exits if its workers exit repeatedly: %s', async (signal) => {
  // Two rounds are more than ten exits.
  const many = 6;
  const service = await outage.start({ WORKERS: String(many), ADMIN_PORT: '0' });
  const adminUrl = `http://127.0.0.1:${/"port":(\d+),"msg":"serving metrics"/.exec(service.output)?.[1]}`;
  const allReady = async () =>
    expect(await (await fetch(`${adminUrl}/metrics`)).text()).toMatch(new RegExp(`^workers_ready ${String(many)}$`, 'm'));
  const exit = service.exit();
  await waitFor(allReady, WORKER_POLL);
  kill(workersOf(service), signal);
  await waitFor(async () => {
    expect(exitsOf(service)).toHaveLength(many);
    await allReady();
  }, WORKER_POLL);
  kill(workersOf(service), signal);
  expect(await exit).toBe(1);
  expect(service.output).toContain('the workers crash repeatedly; stopping the service');
});
