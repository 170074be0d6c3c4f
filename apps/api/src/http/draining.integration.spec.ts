import { once } from 'node:events';
import { Database } from '@animal-store/database';
import { waitFor } from '@animal-store/local-postgres/testing';
import { RawConnection, rawGet } from '@animal-store/test-kit/raw-connection';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { JobRunner } from '../contexts/job-runner.js';
import { Metrics } from '../observability/metrics.js';
import { Draining } from './connection.js';
import { rawCreation, readResponses } from './testing/raw-requests.js';
import { startTestApp, type TestApp } from './testing/test-app.js';

let stopping: TestApp;
let authorization: string;
let database: Client;

async function start(): Promise<void> {
  stopping = await startTestApp();
  authorization = `Authorization: Bearer ${await stopping.createKey('pets:read', 'pets:write')}\r\n`;
  database = new Client({ connectionString: stopping.databaseUrl });
  await database.connect();
}

async function stop(): Promise<void> {
  await database.end();
  await stopping.close();
}

const open = () => RawConnection.open(stopping.url);
const openFive = () => Promise.all([open(), open(), open(), open(), open()]);
const get = (path: string) => rawGet(path, authorization);
const create = () => rawCreation(authorization);

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
    expect(await stopping.app.get(Metrics).registry.metrics()).toMatch(new RegExp(`^http_requests_in_flight ${String(count)}$`, 'm'));
  });

describe('while the app drains, pipelined requests', () => {
  beforeAll(start);
  afterAll(stop);

  it('all get responses if draining begins meanwhile, and the last response closes the connection', async () => {
    const release = await lockPets();
    const connection = await open();
    connection.write(get('/v1/pets'));
    await statementsWait(1);
    stopping.app.get(Draining).isActive = true;
    connection.write(create() + get('/health/live'));
    await statementsWait(2);
    await release();
    expect(await readResponses(connection)).toEqual(['200 keep-alive', '201 keep-alive', '200 close']);
  });

  it('are not processed after the response that closes the connection', async () => {
    const countPets = async () => (await database.query('SELECT 1 FROM pets.pets')).rowCount;
    const before = await countPets();
    const release = await lockPets();
    const connection = await open();
    stopping.app.get(Draining).isActive = true;
    connection.write(get('/v1/pets'));
    await statementsWait(1);
    // Processed immediately, but its response follows that of the first request.
    connection.write(get('/health/live'));
    await fetch(`${stopping.url}/health/live`).then((response) => response.text());
    connection.write(create());
    await fetch(`${stopping.url}/health/live`).then((response) => response.text());
    await release();
    expect(await readResponses(connection)).toEqual(['200 keep-alive', '200 close']);
    expect(await countPets()).toBe(before);
  });
});

// Each test closes the app.
describe('closing the app', () => {
  beforeEach(start);
  afterEach(stop);

  it('waits for pending and pipelined requests, but not for idle connections', async () => {
    const [unused, used, busy, ended, pipelined] = await openFive();
    used.write(get('/v1/pets'));
    expect(await used.read()).toMatchObject({ status: 200 });
    const release = await lockPets();
    for (const connection of [busy, ended, pipelined]) connection.write(get('/v1/pets'));
    ended.end();
    await statementsWait(1);
    await requestsPend(3);
    const accepted = once(stopping.app.getHttpServer(), 'connection');
    const newest = await open();
    await accepted;
    newest.write(get('/health/live'));
    const closed = stopping.app.close();
    await waitFor(() => expect(stopping.app.getHttpServer().listening).toBe(false));
    pipelined.write(create() + create());
    await statementsWait(2);
    for (const connection of [unused, used]) expect(await connection.read()).toBeUndefined();
    await release();
    for (const connection of [busy, ended, newest]) expect(await readResponses(connection)).toEqual(['200 close']);
    expect(await readResponses(pipelined)).toEqual(['200 keep-alive', '201 keep-alive', '201 close']);
    await closed;
  });

  it('half-received requests time out as before, and do not delay the end', async () => {
    const server = stopping.app.getHttpServer();
    [server.headersTimeout, server.requestTimeout] = [500, 1_000];
    const [header, later, body, pipelined, silent] = await openFive();
    const halfHeader = 'GET /v1/pets HTTP/1.1\r\nHost:';
    const halfBody = create().slice(0, -1);
    header.write(halfHeader);
    later.write(get('/health/live'));
    expect(await later.read()).toMatchObject({ status: 200 });
    later.write(halfHeader);
    body.write(halfBody);
    pipelined.write(get('/health/live') + halfBody);
    expect(await pipelined.read()).toMatchObject({ status: 200 });
    await fetch(`${stopping.url}/health/live`).then((response) => response.text());
    let isClosed = false;
    const startedAt = performance.now();
    const closed = stopping.app.close().then(() => (isClosed = true));
    expect(await silent.read()).toBeUndefined();
    expect(isClosed).toBe(false);
    for (const connection of [header, later, body, pipelined]) expect(await readResponses(connection)).toEqual(['408 close']);
    await closed;
    // The longest timeout, the interval of the checks, and a short time to read the response.
    expect(performance.now() - startedAt).toBeLessThan(1_000 + 1_000 + 500 + 1_000);
  });

  it('stops listening before it waits for jobs, which still have the database', async () => {
    const job = Promise.withResolvers<void>();
    jest.spyOn(stopping.app.get(JobRunner), 'beforeApplicationShutdown').mockReturnValue(job.promise);
    const release = await lockPets();
    const busy = await open();
    busy.write(get('/v1/pets'));
    await statementsWait(1);
    const closed = stopping.app.close();
    await waitFor(async () => await expect(open()).rejects.toThrow('ECONNREFUSED'));
    await release();
    expect(await readResponses(busy)).toEqual(['200 close']);
    expect(await stopping.app.get(Database).query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    job.resolve();
    await closed;
    expect(stopping.app.get(Database).isInitialized).toBe(false);
  });
});
