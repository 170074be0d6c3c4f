import { createKey, Service } from '../support/service.js';
import { createTestDatabase, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DebianServer, startRedis } from '../support/debian-server.js';

// `npm run verify -- redis`. Not part of `npm test`, since the npm registry has no Redis.

const LIMIT = 300;
/** 250 ms for Redis, and the time of a request on a busy machine. */
const RESPONSE_MS = 3_000;

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

async function expectTimely({ url }: Service): Promise<void> {
  const { key } = await createKey(database.url, `client ${++clients}`);
  const headers = { Authorization: `Bearer ${key}`, Connection: 'close' };
  const response = await fetch(`${url}/v1/pets`, { headers, signal: AbortSignal.timeout(RESPONSE_MS) });
  expect(response.status).toBe(200);
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

  it.each([
    ['is down', () => redis.stop(), () => redis.restart()],
    ['does not respond', async () => redis.signal('SIGSTOP'), async () => redis.signal('SIGCONT')],
  ])('respond in time and count separately while Redis %s, and together afterwards', async (_what, stop, resume) => {
    const before = [LOST_LOG, RECONNECTED_LOG].map((text) => machines[0].output.split(text).length);
    await stop();
    // Each of these requests may wait for Redis until one of them has found out.
    await expectTimely(machines[0]);
    await expectTimely(machines[1]);
    await logged(LOST_LOG, before[0] ?? 0);
    await expectMetric(0);
    await expectCountPerMachine();
    await resume();
    await logged(RECONNECTED_LOG, before[1] ?? 0);
    await expectMetric(1);
    await expectOneCount();
  });
});
