import { setTimeout as sleep } from 'node:timers/promises';
import { createKey, Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DebianServer, startRedis } from '../support/debian-server.js';

// `npm run verify -- redis`. Not part of `npm test`, since the npm registry has no Redis.

const LIMIT = 300;
/** 250 ms for Redis, and the time of a request on a busy machine. */
const RESPONSE_MS = 1_000;

let redis: DebianServer;
let database: TestDatabase;
let machines: readonly [Service, Service];
let clients = 0;

beforeAll(async () => {
  redis = await startRedis();
  database = await createTestDatabase();
  const environment = { REDIS_URL: `redis://127.0.0.1:${redis.port}`, RATE_LIMIT: String(LIMIT) };
  const first = await Service.start(database.url, environment);
  machines = [first, await Service.start(database.url, { ...environment, ADMIN_PORT: '0' })];
});

afterAll(async () => {
  for (const machine of machines) await machine.stop();
  await database.drop();
  await redis.stop();
});

/** Sends more requests of a new client than its limit allows. Returns how many each machine admits. */
async function admitted(): Promise<[number, number]> {
  const { key } = await createKey(database.url, `client ${++clients}`);
  const counts: [number, number] = [0, 0];
  for (let i = 0; i < 2 * LIMIT; i += 20) {
    const statuses = await Promise.all(
      Array.from({ length: 40 }, async (_, n) => {
        const machine = n % 2 === 0 ? 0 : 1;
        const headers = { Authorization: `Bearer ${key}`, Connection: 'close' };
        const response = await fetch(`${machines[machine].url}/v1/pets`, { headers });
        await response.arrayBuffer();
        return [machine, response.status] as const;
      }),
    );
    for (const [machine, status] of statuses) {
      expect([200, 429]).toContain(status);
      if (status === 200) counts[machine]++;
    }
  }
  return counts;
}

/** Returns how long a request takes. */
async function timeOf(url: string, key: string): Promise<number> {
  const begin = performance.now();
  const response = await fetch(url, { headers: { Authorization: `Bearer ${key}` }, signal: AbortSignal.timeout(10_000) });
  await response.arrayBuffer();
  return performance.now() - begin;
}

async function expectOneCount(): Promise<void> {
  const [first, second] = await admitted();
  expect(first + second).toBeGreaterThanOrEqual(LIMIT);
  expect(first + second).toBeLessThanOrEqual(LIMIT * 1.1);
}

async function expectCountPerMachine(): Promise<void> {
  for (const count of await admitted()) {
    expect(count).toBeGreaterThanOrEqual(LIMIT);
    expect(count).toBeLessThanOrEqual(LIMIT * 1.1);
  }
}

const logged = (text: string, times: number) =>
  waitFor(() => expect(machines[0].output.split(text).length - 1).toBeGreaterThanOrEqual(times));
/** Expects a metric of the second machine. */
const expectMetric = (connected: number) =>
  waitFor(async () => {
    expect(await machines[1].metrics()).toContain(`\nredis_connected ${connected}\n`);
  });
const LOST_LOG = 'Redis cannot be used; counting only the requests of this process';
const RECONNECTED_LOG = 'reconnected to Redis; counting the requests of all processes';

describe('two machines', () => {
  it('count the requests of a client together in Redis', async () => {
    await expectOneCount();
    await expectMetric(1);
  });

  it('count separately while Redis is down and together after it is back', async () => {
    await redis.stop();
    await logged(LOST_LOG, 1);
    await expectCountPerMachine();
    await expectMetric(0);
    await redis.restart();
    await logged(RECONNECTED_LOG, 1);
    await expectOneCount();
  });

  it('respond in time while Redis does not respond, count separately, and together after it does', async () => {
    const clients = await Promise.all(Array.from({ length: 8 }, (_, i) => createKey(database.url, `slow ${i}`)));
    redis.signal('SIGSTOP');
    // Each client sends a request per second, so that the connection is never silent.
    const times: number[] = [];
    for (let second = 0; second < 4; second++) {
      const responses = clients.flatMap(({ key }) => machines.map((machine) => timeOf(`${machine.url}/v1/pets`, key)));
      times.push(...(await Promise.all([...responses, sleep(1_000, 0)])));
    }
    expect(Math.max(...times)).toBeLessThan(RESPONSE_MS);
    await logged(LOST_LOG, 2);
    await expectCountPerMachine();
    redis.signal('SIGCONT');
    await logged(RECONNECTED_LOG, 2);
    await expectOneCount();
  });
});
