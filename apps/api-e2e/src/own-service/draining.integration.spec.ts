import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort, query, TcpProxy, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { insertKey } from '../support/keys.js';
import { createStoreDatabase, type Environment, Service } from '../support/service.js';

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

async function start(environment: Environment): Promise<Service> {
  const service = await Service.start(database.url, { RATE_LIMIT: '0', DATABASE_STATEMENT_TIMEOUT_MS: '0', ...environment });
  running.push(service);
  await service.waitUntilReady();
  return service;
}

const send = async (url: string, path = '/v1/pets', body?: string) => {
  const headers = { Authorization: `Bearer ${key}`, ...(body !== undefined && { 'Content-Type': 'application/json' }) };
  const response = await fetch(url + path, { headers, ...(body !== undefined && { method: 'POST', body }) });
  return { status: response.status, connection: response.headers.get('connection'), body: await response.text() };
};

it('processes behind a load balancer are replaced under load, and drop no request', async () => {
  // Longer than the load balancer needs on a busy machine to detect that a process is not ready.
  const old = await start({ DRAIN_SECONDS: '5' });
  let targets = [old.url];
  let turn = 0;
  const balancer = await TcpProxy.start(() => targets[turn++ % targets.length]);
  const address = new URL(balancer.url).origin;

  const outcomes = new Map<string, number>();
  let isOver = false;
  const client = async (n: number) => {
    for (let i = 0; !isOver; i++) {
      const body = (n + i) % 4 === 0 ? '{"name":"Rex","categoryId":1}' : undefined;
      const outcome = await send(address, '/v1/pets', body).then(
        ({ status }) => `${body === undefined ? 'GET' : 'POST'} ${status}`,
        () => 'dropped',
      );
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      await sleep(PAUSE_MS);
    }
  };
  const load = Array.from({ length: LOAD }, (_, n) => client(n));
  const replacement = await start({ DRAIN_SECONDS: '600' });
  targets = [old.url, replacement.url];
  const exit = old.stop('SIGTERM');
  // The load balancer sends requests until its probe fails.
  await waitFor(async () => expect(await send(old.url, '/health/ready')).toMatchObject({ status: 503 }));
  targets = [replacement.url];
  expect(await exit).toBe(0);
  expect(old.output).toContain('"graceMs":5000,');
  isOver = true;
  await Promise.all(load);
  await balancer.cut();
  expect([...outcomes.keys()].sort()).toEqual(['GET 200', 'POST 201']);
  expect(outcomes.get('POST 201')).toBeGreaterThan(LOAD);

  await expectOrderlyEnd(replacement);
});

/** Expects that a process serves after SIGTERM, also a second one, until SIGINT ends the drain period, and completes running requests. */
async function expectOrderlyEnd(service: Service): Promise<void> {
  const other = new Client({ connectionString: database.url });
  await other.connect();
  await other.query('BEGIN');
  await other.query('LOCK TABLE pets.pets IN ACCESS EXCLUSIVE MODE');
  const [read, creation] = [send(service.url), send(service.url, '/v1/pets', '{"name":"Last","categoryId":1}')];
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await waitFor(async () => expect(await query(database.url, waiting)).toHaveLength(2));

  const exit = service.stop('SIGTERM');
  await waitFor(async () => expect(await send(service.url, '/health/ready')).toMatchObject({ status: 503, connection: 'close' }));
  void service.stop('SIGTERM');
  expect(await send(service.url, '/v1/pets/none')).toMatchObject({ status: 404, connection: 'close' });
  void service.stop('SIGINT');
  // It no longer listens, but two requests are still running.
  await waitFor(() => expect(send(service.url, '/health/live')).rejects.toThrow('fetch failed'));
  await other.query('COMMIT');
  await other.end();
  expect(await read).toMatchObject({ status: 200 });
  const { status, body } = await creation;
  expect(status).toBe(201);
  expect(await exit).toBe(0);
  const { id } = JSON.parse(body) as { id: number };
  expect(await query(database.url, `SELECT name FROM pets.pets WHERE id = ${id}`)).toEqual([{ name: 'Last' }]);
}

it('with REUSE_PORT, two processes of one host serve on one port, and one serves alone while the other is replaced', async () => {
  if (process.platform !== 'linux') return;
  const environment = { PORT: String(await findFreePort()), REUSE_PORT: 'true', HTTPS_PROXY: 'http://proxy.invalid' };
  const services = await Promise.all([start(environment), start(environment)]);
  const [one, two] = services;
  // Each request has a new connection, which the kernel assigns to one of the processes.
  const get = () => fetch(`${one.url}/health/ready`, { headers: { Connection: 'close' } });
  await waitFor(async () => {
    expect((await get()).status).toBe(200);
    for (const service of services) expect(service.output).toContain('"path":"/health/ready"');
  });
  expect(one.output).toContain('HTTPS_PROXY has no effect');
  expect(await two.stop('SIGTERM')).toBe(0);
  for (let i = 0; i < 10; i++) expect((await get()).status).toBe(200);
});
