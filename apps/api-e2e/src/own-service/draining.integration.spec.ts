import { setTimeout as sleep } from 'node:timers/promises';
import { insertKey } from '../support/keys.js';
import { createStoreDatabase, type Environment, Service } from '../support/service.js';
import { query, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { Balancer } from '@animal-store/test-kit/balancer';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';

/** Concurrent clients, and the pause of each one between its requests: more load would only take time from the processes. */
const LOAD = 8;
const PAUSE_MS = 200;

let database: TestDatabase;
let key: string;
const running: Service[] = [];

beforeAll(async () => {
  database = await createStoreDatabase();
  ({ key } = await insertKey(database.url, 'suite'));
});

afterEach(async () => {
  for (const service of running.splice(0)) await service.stop('SIGKILL');
});

afterAll(() => database.drop());

async function start(environment: Environment = {}): Promise<Service> {
  const service = await Service.start(database.url, { RATE_LIMIT: '0', DATABASE_STATEMENT_TIMEOUT_MS: '0', ...environment });
  running.push(service);
  return service;
}

const send = async (url: string, path = '/v1/pets', body?: string) => {
  const headers = { Authorization: `Bearer ${key}`, ...(body !== undefined && { 'Content-Type': 'application/json' }) };
  const response = await fetch(url + path, { headers, ...(body !== undefined && { method: 'POST', body }) });
  return { status: response.status, connection: response.headers.get('connection'), body: await response.text() };
};

describe('SIGTERM', () => {
  it('makes the process unready while it keeps serving, completes running requests and exits with code 0', async () => {
    const service = await start({ DRAIN_SECONDS: '5' });
    expect(await send(service.url, '/health/ready')).toMatchObject({ status: 200 });
    const other = new Client({ connectionString: database.url });
    await other.connect();
    await other.query('BEGIN');
    await other.query('LOCK TABLE pets.pets IN ACCESS EXCLUSIVE MODE');
    const [read, creation] = [send(service.url), send(service.url, '/v1/pets', '{"name":"Last","categoryId":1}')];
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await waitFor(async () => expect(await query(database.url, waiting)).toHaveLength(2));

    const exit = service.stop('SIGTERM');
    await waitFor(async () => expect(await send(service.url, '/health/ready')).toMatchObject({ status: 503, connection: 'close' }));
    expect(await send(service.url, '/v1/pets/none')).toMatchObject({ connection: 'close' });
    // It no longer listens, but two requests are still running.
    await waitFor(async () => await expect(send(service.url, '/health/live')).rejects.toThrow('fetch failed'));
    await other.query('COMMIT');
    expect(await read).toMatchObject({ status: 200 });
    const { status, body } = await creation;
    expect(status).toBe(201);
    expect(await exit).toBe(0);
    const { id } = JSON.parse(body) as { id: number };
    expect(await query(database.url, `SELECT name FROM pets.pets WHERE id = ${id}`)).toEqual([{ name: 'Last' }]);
    await other.end();
  });

  it('has no effect the second time, and SIGINT ends the drain period', async () => {
    const service = await start({ DRAIN_SECONDS: '600' });
    const exit = service.stop('SIGTERM');
    void service.stop('SIGTERM');
    await waitFor(async () => expect(await send(service.url, '/health/ready')).toMatchObject({ status: 503 }));
    void service.stop('SIGINT');
    expect(await exit).toBe(0);
  });
});

describe('processes behind a load balancer, replaced one at a time under load', () => {
  it('drop no request', async () => {
    // Longer than the load balancer needs on a busy machine to detect that a process is not ready.
    const environment = { DRAIN_SECONDS: '5' };
    const [one, two, replacement] = await Promise.all([start(environment), start(environment), start(environment)]);
    const old = [one, two];
    const balancer = await Balancer.start();
    for (const service of old) {
      await service.waitUntilReady();
      await balancer.add(service.url);
    }

    const outcomes = new Map<string, number>();
    let isOver = false;
    const client = async (n: number) => {
      for (let i = 0; !isOver; i++) {
        const body = (n + i) % 4 === 0 ? '{"name":"Rex","categoryId":1}' : undefined;
        const outcome = await send(balancer.url, '/v1/pets', body).then(
          ({ status }) => `${body === undefined ? 'GET' : 'POST'} ${status}`,
          () => 'dropped',
        );
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        await sleep(PAUSE_MS);
      }
    };
    const load = Array.from({ length: LOAD }, (_, n) => client(n));
    await replacement.waitUntilReady();
    await balancer.add(replacement.url);
    for (const service of old) expect(await service.stop('SIGTERM')).toBe(0);
    isOver = true;
    await Promise.all(load);
    await balancer.stop();
    expect([...outcomes.keys()].sort()).toEqual(['GET 200', 'POST 201']);
    expect(outcomes.get('POST 201')).toBeGreaterThan(LOAD);
  });
});
