import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { Metrics } from '../observability/metrics.js';
import { RawConnection } from '../testing/fuzz/raw-connection.js';
import { startTestApp, type TestApp } from '../testing/test-app.js';

const MAX_IN_FLIGHT = 4;
/** More than the lag of a busy machine. */
const MAX_LAG_MS = 500;

let service: TestApp;
let database: Client;
let key: string;

beforeAll(async () => {
  let url = '';
  const env = { MAX_IN_FLIGHT: String(MAX_IN_FLIGHT), MAX_EVENT_LOOP_LAG_MS: String(MAX_LAG_MS), DATABASE_STATEMENT_TIMEOUT_MS: '0' };
  service = await startTestApp({ env, databaseUrl: (given) => (url = given) });
  key = await service.createKey('pets:read', 'pets:write');
  database = new Client({ connectionString: url });
  await database.connect();
  await (await list()).text();
});

afterAll(async () => {
  await database.end();
  await service.close();
});

const list = (signal?: AbortSignal) =>
  fetch(`${service.url}/v1/pets`, { headers: { Authorization: `Bearer ${key}` }, ...(signal && { signal }) });
const metric = async (pattern: RegExp) => Number(pattern.exec(await service.app.get(Metrics).registry.metrics())?.[1]);
const inFlight = () => metric(/^http_requests_in_flight (\d+)$/m);
const shedInFlight = () => metric(/^http_requests_shed_total\{reason="in_flight"\} (\d+)$/m);

/** Blocks requests for pets in the database until the returned function is called. */
async function lockPets(): Promise<() => Promise<unknown>> {
  await database.query('BEGIN');
  await database.query('LOCK TABLE pets.pets IN ACCESS EXCLUSIVE MODE');
  return () => database.query('COMMIT');
}

async function expectShed(response: Response): Promise<void> {
  expect([response.status, await response.json()]).toEqual([
    503,
    { code: 'service_unavailable', message: expect.any(String), status: 503 },
  ]);
  expect(response.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('x-request-id')).toMatch(/^\S+$/);
}

describe('with MAX_IN_FLIGHT requests in flight', () => {
  it('refuses further requests immediately, and completes the accepted ones', async () => {
    const release = await lockPets();
    const accepted = Array.from({ length: MAX_IN_FLIGHT }, () => list());
    await waitFor(async () => expect(await inFlight()).toBe(MAX_IN_FLIGHT));
    await expectShed(await list());
    const ofDeprecated = await fetch(`${service.url}/v1/pets/1`);
    expect(ofDeprecated.headers.get('link')).toMatch(/; rel="successor-version", <.*; rel="help"$/);
    expect(ofDeprecated.headers.get('deprecation')).toMatch(/^@\d+$/);
    await expectShed(ofDeprecated);
    for (const path of ['/health/live', '/health/ready']) expect((await fetch(service.url + path)).status).toBe(200);
    await release();
    for (const response of await Promise.all(accepted)) expect([response.status, await response.json()]).toEqual([200, []]);
    const after = await list();
    expect([after.status, await after.json()]).toEqual([200, []]);
    expect(await inFlight()).toBe(0);
    expect(await shedInFlight()).toBe(2);
  });

  it('refuses a request whose body arrives later when the body is complete', async () => {
    const connection = await RawConnection.open(Number(new URL(service.url).port));
    const body = '{"name":"Rex","categoryId":1}';
    const fields = `Host: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${String(body.length)}`;
    // The headers of the second request arrive with the first request.
    connection.write(Buffer.from(`GET /health/live HTTP/1.1\r\nHost: x\r\n\r\nPOST /v1/pets HTTP/1.1\r\n${fields}\r\n\r\n`));
    expect(await connection.read({ isHead: false })).toMatchObject({ status: 200 });
    const release = await lockPets();
    const accepted = Array.from({ length: MAX_IN_FLIGHT }, () => list());
    await waitFor(async () => expect(await inFlight()).toBe(MAX_IN_FLIGHT));
    const shedBefore = (await shedInFlight()) || 0;
    connection.write(Buffer.from(`${body}GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n`));
    expect(await connection.read({ isHead: false })).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(await connection.read({ isHead: false })).toMatchObject({ status: 200 });
    expect(await shedInFlight()).toBe(shedBefore + 1);
    await release();
    for (const { status } of await Promise.all(accepted)) expect(status).toBe(200);
    connection.reset();
  });

  it('counts requests whose clients have disconnected until their work is done', async () => {
    const release = await lockPets();
    const giveUp = new AbortController();
    const abandoned = Array.from({ length: MAX_IN_FLIGHT }, () => list(giveUp.signal).catch(() => 'abandoned'));
    await waitFor(async () => expect(await inFlight()).toBe(MAX_IN_FLIGHT));
    giveUp.abort();
    expect(await Promise.all(abandoned)).toEqual(abandoned.map(() => 'abandoned'));
    await expectShed(await list());
    await release();
    await waitFor(async () => expect(await inFlight()).toBe(0));
  });

  it('counts each request once, and not after its end, however it ends', async () => {
    const { port } = new URL(service.url);
    const begin = 'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    for (const bytes of [
      `${begin}Content-Length: 100\r\n\r\n{"name":`,
      `${begin}Transfer-Encoding: chunked\r\n\r\n5\r\n{"nam`,
      `${begin}\r\n`,
      'OPTIONS /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET / HTTP/1.1\r\n\r\n',
    ]) {
      const socket = connect(Number(port));
      socket.on('error', () => undefined);
      socket.write(bytes);
      await once(socket, 'connect');
      // The response may come before the body, or not at all.
      await Promise.race([once(socket, 'data'), new Promise((resolve) => setTimeout(resolve, 50))]);
      socket.resetAndDestroy();
    }
    await waitFor(async () => expect(await inFlight()).toBe(0));
  });
});

describe('while the event loop lags', () => {
  it('refuses requests, and serves them again afterwards', async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    const sendRequest = () => socket.write(`GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    await waitFor(async () => {
      sendRequest();
      expect(await readResponse(socket)).toMatch(/^HTTP\/1.1 200 /);
    });
    sendRequest();
    // Blocks the event loop, which the service shares, so that it reads the request late.
    const until = performance.now() + 3 * MAX_LAG_MS;
    while (performance.now() < until);
    expect(await readResponse(socket)).toMatch(/^HTTP\/1.1 503 /);
    expect(await metric(/^http_requests_shed_total\{reason="event_loop_lag"\} (\d+)$/m)).toBeGreaterThan(0);
    await waitFor(async () => expect((await list()).status).toBe(200));
    socket.destroy();
  });

  async function readResponse(socket: Socket): Promise<string> {
    const [data] = (await once(socket, 'data')) as [Buffer];
    return data.toString();
  }
});
