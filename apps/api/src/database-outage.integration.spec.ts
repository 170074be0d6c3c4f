import { TcpProxy, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { startTestApp, type TestApp } from './testing/test-app.js';

let service: TestApp;
let proxy: TcpProxy;
let databaseUrl = '';
let database: Client;
let key: string;

beforeAll(async () => {
  service = await startTestApp({
    env: { DATABASE_STATEMENT_TIMEOUT_MS: '1000', DATABASE_CONNECT_TIMEOUT_MS: '2000', DATABASE_POOL_SIZE: '3' },
    databaseUrl: async (given) => {
      databaseUrl = given;
      proxy = await TcpProxy.start(given);
      return proxy.url;
    },
  });
  key = await service.createKey('pets:read', 'pets:write');
  database = new Client({ connectionString: databaseUrl });
  await database.connect();
});

afterAll(async () => {
  await database.end();
  await service.close();
  await proxy.cut();
});

const get = async (path = '/v1/pets') => {
  const response = await fetch(service.url + path, { headers: { Authorization: `Bearer ${key}` } });
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.text() };
};
const create = async (name: string) => {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const response = await fetch(`${service.url}/v1/pets`, { method: 'POST', headers, body: JSON.stringify({ name, categoryId: 1 }) });
  return { status: response.status, body: await response.text() };
};
const statuses = (responses: readonly { status: number }[]) => responses.map(({ status }) => status);
const waitUntilServing = () =>
  waitFor(async () => expect(statuses(await Promise.all([get(), get('/health/ready'), create('Rex')]))).toEqual([200, 200, 201]));

describe('when the database closes all connections', () => {
  const terminate = () =>
    database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'animal-store-api' AND datname = current_database()`,
    );

  it('reads succeed', async () => {
    for (let i = 0; i < 5; i++) {
      expect(statuses(await Promise.all([get(), get(), get()]))).toEqual([200, 200, 200]);
      await terminate();
      expect(statuses(await Promise.all([get(), get(), get()]))).toEqual([200, 200, 200]);
    }
  });

  it('a pending read is repeated, a pending creation is not', async () => {
    const other = new Client({ connectionString: databaseUrl });
    await other.connect();
    await other.query('BEGIN');
    await other.query('LOCK TABLE pets.pets IN ACCESS EXCLUSIVE MODE');
    const [read, creation] = [get(), create('Lost')];
    await until(2);
    await terminate();
    expect(JSON.parse((await creation).body)).toMatchObject({ code: 'service_unavailable', status: 503 });
    await until(1);
    await other.end();
    expect((await read).status).toBe(200);
    expect((await database.query(`SELECT 1 FROM pets.pets WHERE name = 'Lost'`)).rowCount).toBe(0);
  });

  /** Waits until this number of statements waits for the lock. */
  async function until(waiting: number): Promise<void> {
    const query = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'animal-store-api' AND datname = current_database() AND wait_event_type = 'Lock'`;
    await waitFor(async () => expect((await database.query(query)).rowCount).toBe(waiting));
  }
});

it('responds with 503 while the database refuses connections', async () => {
  await proxy.cut();
  for (const response of await Promise.all([get(), get('/v1/pets/1'), get('/health/ready')])) {
    expect(response).toMatchObject({ status: 503, retryAfter: expect.stringMatching(/^[1-9][0-9]*$/) });
  }
  expect((await create('Rex')).status).toBe(503);
  expect((await get('/health/live')).status).toBe(200);
  await proxy.restore();
  await waitUntilServing();
});

it('responds with 503 while the database does not respond, and recovers afterwards', async () => {
  await get();
  proxy.slowDown(60_000);
  // More than the pool size: some time out in a statement, the others while waiting for a connection.
  const responses = await Promise.all(Array.from({ length: 9 }, () => get('/v1/pets/1')));
  expect(new Set(statuses(responses))).toEqual(new Set([503]));
  proxy.slowDown(0);
  await waitUntilServing();
});
