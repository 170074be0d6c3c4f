import { Database } from '@animal-store/database';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { JobRunner } from '../contexts/job-runner.js';
import { Metrics } from '../observability/metrics.js';
import { RawConnection, rawGet } from '@animal-store/test-kit/raw-connection';
import { startTestApp, type TestApp } from './testing/test-app.js';
import { Draining } from './connection.js';

let service: TestApp;
let database: Client;
let key: string;

async function start(): Promise<void> {
  service = await startTestApp();
  key = await service.createKey('pets:read', 'pets:write');
  database = new Client({ connectionString: service.databaseUrl });
  await database.connect();
}

async function stop(): Promise<void> {
  await database.end();
  await service.close();
}

const connect = () => RawConnection.open(service.url);
const authorization = () => `Authorization: Bearer ${key}\r\n`;
const get = (path: string) => rawGet(path, authorization());
const PET = '{"name":"Last","categoryId":7}';
const creation = () =>
  `POST /v1/pets HTTP/1.1\r\nHost: localhost\r\n${authorization()}Content-Type: application/json\r\nContent-Length: ${String(PET.length)}\r\n\r\n${PET}`;
/** Returns the status of each of the next responses, and whether it closes the connection. */
const statusesOf = async (connection: RawConnection, count: number) => {
  const statuses: unknown[] = [];
  for (let i = 0; i < count; i++) {
    const response = await connection.read();
    statuses.push([response?.status, response?.headers['connection'] === 'close']);
  }
  return statuses;
};

/** Blocks requests for pets until the returned function is called. */
async function lockPets(): Promise<() => Promise<unknown>> {
  await database.query('BEGIN');
  await database.query('LOCK TABLE pets.pets');
  return () => database.query('COMMIT');
}

const statementsWait = (count: number) =>
  waitFor(async () => {
    const waiting = await database.query("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'pets.pets'::regclass");
    // Concurrent requests share a statement, except those whose API key is not cached yet.
    expect(waiting.rowCount).toBeGreaterThanOrEqual(count);
  });

/** Waits until this number of requests has been received and is not finished. */
const requestsPend = (count: number) =>
  waitFor(async () => {
    expect(await service.app.get(Metrics).registry.metrics()).toMatch(new RegExp(`^http_requests_in_flight ${String(count)}$`, 'm'));
  });

describe('while draining, pipelined requests', () => {
  beforeAll(start);
  afterAll(stop);

  it('all get responses if draining begins meanwhile, and the last response closes the connection', async () => {
    const release = await lockPets();
    const connection = await connect();
    connection.write(get('/v1/pets'));
    await statementsWait(1);
    service.app.get(Draining).isActive = true;
    connection.write(creation() + get('/health/live'));
    await statementsWait(2);
    await release();
    expect(await statusesOf(connection, 3)).toEqual([
      [200, false],
      [201, false],
      [200, true],
    ]);
    expect(await connection.read()).toBeUndefined();
  });

  it('are not processed after the response that closes the connection', async () => {
    const countPets = async () => (await database.query('SELECT 1 FROM pets.pets')).rowCount;
    const before = await countPets();
    const release = await lockPets();
    const connection = await connect();
    service.app.get(Draining).isActive = true;
    connection.write(get('/v1/pets'));
    await statementsWait(1);
    // Processed immediately, but its response follows that of the first request.
    connection.write(get('/health/live'));
    await fetch(`${service.url}/health/live`).then((response) => response.text());
    connection.write(creation());
    await fetch(`${service.url}/health/live`).then((response) => response.text());
    await release();
    expect(await statusesOf(connection, 2)).toEqual([
      [200, false],
      [200, true],
    ]);
    expect(await connection.read()).toBeUndefined();
    expect(await countPets()).toBe(before);
  });
});

// Each test closes the app.
describe('closing', () => {
  beforeEach(start);
  afterEach(stop);

  it('waits for pending and pipelined requests, but not for idle connections', async () => {
    const [unused, used, busy, ended, pipelined] = await Promise.all([connect(), connect(), connect(), connect(), connect()]);
    used.write(get('/v1/pets'));
    expect(await used.read()).toMatchObject({ status: 200 });
    const release = await lockPets();
    for (const connection of [busy, ended, pipelined]) connection.write(get('/v1/pets'));
    ended.end();
    await statementsWait(1);
    await requestsPend(3);
    const closed = service.app.close();
    await waitFor(() => expect(service.app.getHttpServer().listening).toBe(false));
    pipelined.write(creation() + creation());
    await statementsWait(2);
    for (const connection of [unused, used]) expect(await connection.read()).toBeUndefined();
    await release();
    for (const connection of [busy, ended]) expect(await statusesOf(connection, 1)).toEqual([[200, true]]);
    expect(await statusesOf(pipelined, 3)).toEqual([
      [200, false],
      [201, false],
      [201, true],
    ]);
    await closed;
  });

  it('half-received requests time out as before, and do not delay the end', async () => {
    const server = service.app.getHttpServer();
    [server.headersTimeout, server.requestTimeout] = [500, 1_000];
    const [header, later, body, pipelined, silent] = await Promise.all([connect(), connect(), connect(), connect(), connect()]);
    const halfHeader = 'GET /v1/pets HTTP/1.1\r\nHost:';
    const halfBody = creation().slice(0, -1);
    header.write(halfHeader);
    later.write(get('/health/live'));
    expect(await later.read()).toMatchObject({ status: 200 });
    later.write(halfHeader);
    body.write(halfBody);
    pipelined.write(get('/health/live') + halfBody);
    expect(await pipelined.read()).toMatchObject({ status: 200 });
    await fetch(`${service.url}/health/live`).then((response) => response.text());
    let isClosed = false;
    const startedAt = performance.now();
    const closed = service.app.close().then(() => (isClosed = true));
    expect(await silent.read()).toBeUndefined();
    expect(isClosed).toBe(false);
    for (const connection of [header, later, body, pipelined]) expect(await statusesOf(connection, 1)).toEqual([[408, true]]);
    await closed;
    // The longest timeout, the interval of the checks, and a short time to read the response.
    expect(performance.now() - startedAt).toBeLessThan(1_000 + 1_000 + 500 + 1_000);
  });

  it('stops listening before it waits for jobs, which still have the database', async () => {
    const job = Promise.withResolvers<void>();
    jest.spyOn(service.app.get(JobRunner), 'beforeApplicationShutdown').mockReturnValue(job.promise);
    const release = await lockPets();
    const busy = await connect();
    busy.write(get('/v1/pets'));
    await statementsWait(1);
    const closed = service.app.close();
    await waitFor(async () => await expect(connect()).rejects.toThrow('ECONNREFUSED'));
    await release();
    expect(await statusesOf(busy, 1)).toEqual([[200, true]]);
    expect(await busy.read()).toBeUndefined();
    expect(await service.app.get(Database).query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    job.resolve();
    await closed;
    expect(service.app.get(Database).isInitialized).toBe(false);
  });
});
