import type { AddressInfo } from 'node:net';
import { connectAccessUseCases } from '@animal-store/access-infrastructure';
import { Database, migrateUp } from '@animal-store/database';
import { DurablePostgres, TcpProxy, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Client } from 'pg';
import { readConfig } from '../config/config.js';
import { createApp } from '../create-app.js';
import { createLogger } from '../observability/logger.js';
import { Metrics } from '../observability/metrics.js';
import { contexts } from '../registered-contexts.js';

let primary: DurablePostgres;
let standby: DurablePostgres;
let standbyClient: Client;
/** Of the apps to the standby. */
let network: TcpProxy;
/** Stand-ins for two processes of one service. */
let apps: NestFastifyApplication[];
let key: string;
let log = '';

beforeAll(async () => {
  primary = await DurablePostgres.start();
  const persistence = contexts.map((context) => context.persistence);
  const dataSource = new Database({ url: primary.url, applicationName: 'spec', poolSize: 1, persistence });
  await dataSource.initialize();
  await migrateUp(dataSource);
  await dataSource.destroy();
  standby = await primary.addStandby();
  standbyClient = new Client({ connectionString: standby.url });
  await standbyClient.connect();
  network = await TcpProxy.start(standby.url);
  const access = await connectAccessUseCases(primary.url);
  key = (await access.manageApiKeys.create({ clientName: 'spec', environment: 'test', scopes: ['pets:read', 'pets:write'] })).secret;
  await access.close();
  const env = {
    ...{ DATABASE_URL: primary.url, DATABASE_REPLICA_URLS: network.url, ENVIRONMENT: 'test', NODE_ENV: 'test' },
    ...{ MAX_EVENT_LOOP_LAG_MS: '60000', DATABASE_STATEMENT_TIMEOUT_MS: '60000', DATABASE_CONNECT_TIMEOUT_MS: '60000' },
  };
  const config = readConfig(env, contexts);
  const logger = createLogger('info', { write: (line: string) => (log += line) });
  apps = await Promise.all([1, 2].map(() => createApp({ config, contexts, logger })));
  for (const app of apps) {
    await app.get(Database).open();
    await app.listen({ host: '127.0.0.1', port: 0 });
  }
});

afterAll(async () => {
  await Promise.all(apps.map((app) => app.close()));
  await standbyClient.end();
  await network.cut();
  await standby.remove();
  await primary.remove();
});

async function send(process: number, path: string, init: RequestInit = {}) {
  const address = apps[process]?.getHttpServer().address() as AddressInfo;
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...init.headers };
  const response = await fetch(`http://127.0.0.1:${String(address.port)}${path}`, { ...init, headers });
  return { status: response.status, etag: response.headers.get('etag'), body: await response.text() };
}

const create = (process: number, name: string, headers = {}) =>
  send(process, '/v1/pets', { method: 'POST', headers, body: JSON.stringify({ name, categoryId: 1 }) });

/** Returns how many statements the replica has served, how many it was allowed to serve, and whether the process uses it. */
async function metrics(process: number): Promise<{ readonly reads: number; readonly offered: number; readonly used: number }> {
  const text = (await apps[process]?.get(Metrics).registry.metrics()) ?? '';
  const value = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);
  const reads = value(/^database_replica_reads_total\{served_by="replica"\} (\d+)$/m);
  return {
    reads,
    offered: reads + value(/^database_replica_reads_total\{served_by="primary"\} (\d+)$/m),
    used: value(/^database_replica_used\{replica="127\.0\.0\.1:\d+"\} (\d)$/m),
  };
}

/** Repeats the request until the replica has served it. */
function listFromReplica(process: number, path = '/v1/pets'): Promise<Awaited<ReturnType<typeof send>>> {
  return waitFor(async () => {
    const before = await metrics(process);
    const response = await send(process, path);
    expect((await metrics(process)).reads).toBe(before.reads + 1);
    return response;
  });
}

it('a list contains all earlier writes of any process, even if the replica lags', async () => {
  await listFromReplica(0);
  await listFromReplica(1);
  await standbyClient.query('SELECT pg_wal_replay_pause()');
  for (const [writer, reader] of [
    [0, 0],
    [0, 1],
    [1, 0],
  ] as const) {
    const name = `from ${String(writer)} to ${String(reader)}`;
    expect((await create(writer, name)).status).toBe(201);
    expect((await send(reader, '/v1/pets?limit=100')).body).toContain(name);
    expect((await send(reader, '/v1/pets?limit=100&status=available')).body).toContain(name);
  }
  const { rows } = await standbyClient.query('SELECT 1 FROM pets.pets');
  expect(rows).toEqual([]);
});

it('the primary serves get, lists by id and repeated keys', async () => {
  await standbyClient.query('SELECT pg_wal_replay_resume()');
  await listFromReplica(1);
  const headers = { 'Idempotency-Key': 'once' };
  const first = await create(0, 'once', headers);
  const { id } = JSON.parse(first.body) as { id: number };
  const { offered } = await metrics(1);
  expect(await create(1, 'once', headers)).toEqual(first);
  expect(await send(1, `/v1/pets/${String(id)}`)).toMatchObject({ status: 200, body: first.body });
  expect(await send(1, `/v1/pets?id=${String(id)}`)).toMatchObject({ status: 200, body: `[${first.body}]` });
  expect((await metrics(1)).offered).toBe(offered);
});

it('a list has the same text and ETag from both servers', async () => {
  await standbyClient.query('SELECT pg_wal_replay_pause()');
  await create(0, 'tagged');
  const fromPrimary = await send(0, '/v1/pets?limit=100');
  expect(fromPrimary.body).toContain('tagged');
  await standbyClient.query('SELECT pg_wal_replay_resume()');
  expect(await listFromReplica(0, '/v1/pets?limit=100')).toEqual(fromPrimary);
  expect(await send(1, '/v1/pets?limit=100', { headers: { 'If-None-Match': fromPrimary.etag ?? '' } })).toMatchObject({ status: 304 });
});

it.each<[string, () => Promise<void> | void, () => Promise<void> | void]>([
  ['rejects connections', () => network.cut(), () => network.restore()],
  ['does not respond', () => network.slowDown(60_000), () => network.slowDown(0)],
])('excludes a replica that %s without a failed list, reports this in metrics and log, and uses it again', async (_what, lose, recover) => {
  await standbyClient.query('SELECT pg_wal_replay_resume()');
  await listFromReplica(0);
  log = '';
  await lose();
  for (let list = 0; list < 5; list++) expect((await send(0, '/v1/pets')).status).toBe(200);
  await waitFor(async () => expect((await metrics(0)).used).toBe(0));
  expect(log).toContain('not reading from the replica');
  await recover();
  network.disconnect();
  await listFromReplica(0);
  expect((await metrics(0)).used).toBe(1);
  // Both apps write this log, and the other one may notice the loss and the return later.
  await waitFor(() =>
    expect(log.lastIndexOf('reading lists from the replica')).toBeGreaterThan(log.lastIndexOf('not reading from the replica')),
  );
});
