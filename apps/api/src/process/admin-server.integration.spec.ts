import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Database } from '@animal-store/database';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { collectDefaultMetrics, Counter } from 'prom-client';
import { Draining } from '../http/connection.js';
import { startTestApp, type TestApp } from '../http/testing/test-app.js';
import { Metrics } from '../observability/metrics.js';
import { startAdminServer } from './admin-server.js';
import { Readiness } from './readiness.js';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };

let service: TestApp;
let admin: Server;

beforeAll(async () => {
  service = await startTestApp({ env: { RATE_LIMIT: '6' } });
  const metrics = service.app.get(Metrics);
  collectDefaultMetrics({ register: metrics.registry });
  admin = await startAdminServer({ host: '127.0.0.1', port: 0 }, () => metrics.all().metrics());
});

afterAll(async () => {
  admin.close().closeAllConnections();
  await service.close();
});

const portOf = (server: Server) => (server.address() as AddressInfo).port;
const requestAdmin = (path: string) => fetch(`http://127.0.0.1:${String(portOf(admin))}${path}`);

it('GET /metrics returns the metrics of the service', async () => {
  const key = await service.createKey('pets:read', 'pets:write');
  const send = async (method: string, path: string, { authorization = `Bearer ${key}`, body = '' } = {}) => {
    const headers = { Authorization: authorization, ...(body && { 'Content-Type': 'application/json', 'Idempotency-Key': 'once' }) };
    const response = await fetch(service.url + path, { method, headers, ...(body && { body }) });
    await response.arrayBuffer();
    return response.status;
  };
  const body = '{"name":"Rex","categoryId":1}';
  expect(await send('POST', '/v1/pets', { body })).toBe(201);
  expect(await send('POST', '/v1/pets', { body })).toBe(201);
  expect(await send('HEAD', '/v1/pets')).toBe(200);
  expect(await send('GET', '/v1/pets/0')).toBe(404);
  expect(await send('GET', '/v1/pets', { authorization: 'Bearer wrong' })).toBe(401);
  expect(await send('GET', '/v1/pets', { authorization: '' })).toBe(401);
  expect(await send('GET', '/v1/pets', { authorization: `Bearer ${await service.createKey('pets:write')}` })).toBe(403);
  expect(await send('GET', '/nothing')).toBe(404);
  expect(await send('GET', '/health/live')).toBe(200);
  expect(await send('GET', '/v1/pets')).toBe(200);
  expect(await send('GET', '/v1/pets')).toBe(429);

  // The use of a key is recorded after the response.
  await waitFor(async () => {
    const text = await (await requestAdmin('/metrics')).text();
    const [connections, idle] = ['connections', 'idle'].map((name) => new RegExp(`^database_pool_${name} (\\d+)$`, 'm').exec(text)?.[1]);
    expect([Number(connections), idle]).toEqual([expect.any(Number), connections]);
    expect(text).toContain('database_migrations_pending 0');
  });
  const response = await requestAdmin('/metrics?from=prometheus');
  const lines = (await response.text()).split('\n');
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  for (const [operation, status, count] of [
    ['createPet', 201, 2],
    ['listPets', 200, 2],
    ['listPets', 401, 2],
    ['listPets', 403, 1],
    ['listPets', 429, 1],
    ['getPet', 404, 1],
    ['none', 404, 1],
    // The probe. Without an operation, it does not count in service level objectives.
    ['none', 200, 1],
  ] as const) {
    expect(lines).toContain(`http_request_duration_seconds_count{operation="${operation}",status="${String(status)}"} ${String(count)}`);
  }
  expect(lines).toEqual(
    expect.arrayContaining([
      'http_requests_in_flight 0',
      expect.stringMatching(/^database_pool_connections [1-9]/),
      'database_pool_waiting 0',
      `build_info{version="${version}",commit="unknown",node_version="${process.version}"} 1`,
      expect.stringMatching(/^database_statement_duration_seconds_bucket\{le="0.001",statement="list pets.pets"\} \d+$/),
      'database_migrations_pending 0',
      expect.stringMatching(/^nodejs_eventloop_lag_p99_seconds [0-9]/),
    ]),
  );
});

it('returns metrics of contexts, which are in the default registry', async () => {
  new Counter({ name: 'orders_total', help: 'Orders.' }).inc(3);
  expect(await (await requestAdmin('/metrics')).text()).toMatch(/^orders_total 3$/m);
});

it('has no Redis metrics without REDIS_URL', async () => {
  expect(await (await requestAdmin('/metrics')).text()).not.toContain('redis_connected');
});

it('has no other resources', async () => {
  for (const path of ['/', '/v1/pets']) {
    const response = await requestAdmin(path);
    expect([response.status, await response.json()]).toEqual([404, { code: 'route_not_found', message: expect.any(String), status: 404 }]);
  }
});

it('limits the time of a request, and survives a connection without a file descriptor', () => {
  expect(admin).toMatchObject({ headersTimeout: 10_000, requestTimeout: 10_000 });
  admin.emit('error', new Error('accept EMFILE'));
});

it('responds with 500 if the metrics cannot be collected', async () => {
  const failing = await startAdminServer({ host: '127.0.0.1', port: 0 }, () => Promise.reject(new Error('no metrics')));
  const response = await fetch(`http://127.0.0.1:${String(portOf(failing))}/metrics`);
  const body = { code: 'internal_error', message: expect.any(String), status: 500 };
  expect([response.status, response.headers.get('cache-control'), await response.json()]).toEqual([500, 'no-store', body]);
  failing.close().closeAllConnections();
});

describe('readiness', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is not ready after 2 s without a response of the database, and ready with its response', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const { promise: response, resolve: respond } = Promise.withResolvers<{ rows: [] }>();
    const query = jest.fn(() => response);
    const database = { hasOpened: true, migrations: [], pool: { query } } as unknown as Database;
    const readiness = new Readiness(database, new Draining(), new Metrics());
    const probes = Promise.allSettled([readiness.check(), readiness.check()]);
    await jest.advanceTimersByTimeAsync(1_999);
    const late = readiness.check();
    await jest.advanceTimersByTimeAsync(1);
    const reason: unknown = expect.objectContaining({
      code: 'service_unavailable',
      message: 'The database does not respond.',
    });
    const rejected = { status: 'rejected', reason };
    expect(await probes).toEqual([rejected, rejected]);
    respond({ rows: [] });
    await late;
    expect(query).toHaveBeenCalledTimes(1);
    // The service of the other tests has timers, too.
    const timers = jest.getTimerCount();
    await readiness.check();
    expect(query).toHaveBeenCalledTimes(2);
    expect(jest.getTimerCount()).toBe(timers);
  });

  it('names the cause if the query fails', async () => {
    const cause = new Error('ECONNREFUSED');
    const database = { hasOpened: true, migrations: [], pool: { query: () => Promise.reject(cause) } } as unknown as Database;
    const readiness = new Readiness(database, new Draining(), new Metrics());
    await expect(readiness.check()).rejects.toMatchObject({ message: 'The database does not respond.', cause });
  });

  it('metrics have the state of the migrations before the service connects, and the last one while the database is unavailable', async () => {
    let applied: readonly string[] | Error = ['One1700000000001'];
    const query = jest.fn(() =>
      Error.isError(applied) ? Promise.reject(applied) : Promise.resolve({ rows: applied.map((name) => ({ name })) }),
    );
    const migrations = ['One1700000000001', 'Two1700000000002'].map((name) => ({ name }));
    const metrics = new Metrics();
    const database = { hasOpened: false, migrations, pool: { query } } as unknown as Database;
    const readiness = new Readiness(database, new Draining(), metrics);
    const lines = async () =>
      (await metrics.registry.metrics()).split('\n').filter((line) => /^(?:database_migration|service_ready)/.test(line));
    const pending = ['database_migrations_pending 1', 'service_ready 0'];
    expect((await lines()).sort()).toEqual(pending);
    applied = new Error('connect ECONNREFUSED');
    expect((await lines()).sort()).toEqual(pending);
    database.hasOpened = true;
    applied = migrations.map(({ name }) => name);
    query.mockClear();
    expect((await lines()).sort()).toEqual(['database_migrations_pending 0', 'service_ready 1']);
    expect(query).toHaveBeenCalledTimes(1);
    await readiness.check();
  });
});
