import { waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { RawConnection } from '../testing/fuzz/raw-connection.js';
import { startTestApp, type TestApp } from '../testing/test-app.js';

const MAX_CONNECTIONS = 4;

let service: TestApp;
let database: Client;
let key: string;

beforeAll(async () => {
  service = await startTestApp({ env: { MAX_CONNECTIONS: String(MAX_CONNECTIONS) } });
  key = await service.createKey('pets:read');
  database = new Client({ connectionString: service.databaseUrl });
  await database.connect();
});

afterAll(async () => {
  await database.end();
  await service.close();
});

const open = () => RawConnection.open(Number(new URL(service.url).port));
const request = (path: string) => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);

async function statusOf(connection: RawConnection, path = '/health/live'): Promise<number | undefined> {
  connection.write(request(path));
  return (await connection.read({ isHead: false }))?.status;
}

async function openUsed(): Promise<RawConnection> {
  const connection = await open();
  expect(await statusOf(connection)).toBe(200);
  return connection;
}

it('above the limit, closes idle connections first: unused ones, then the oldest', async () => {
  const used = [await openUsed(), await openUsed()] as const;
  const unused = await open();
  // An incomplete request.
  unused.write(Buffer.from('GET / HTTP/1.1\r\n'));
  const last = await openUsed();
  const first = await openUsed();
  expect(await unused.read({ isHead: false })).toBeUndefined();
  for (const connection of [...used, last, first]) expect(await statusOf(connection)).toBe(200);

  const second = await openUsed();
  expect(await statusOf(used[0])).toBeUndefined();
  for (const connection of [used[1], last, first, second]) expect(await statusOf(connection)).toBe(200);
  for (const connection of [used[1], last, first, second]) connection.reset();
});

it('above the limit without idle connections, responds with 503 to a new connection and closes it', async () => {
  await database.query('BEGIN');
  await database.query('LOCK TABLE pets.pets');
  const busy = [];
  for (let i = 0; i < MAX_CONNECTIONS; i++) {
    const connection = await open();
    connection.write(request('/v1/pets'));
    busy.push(connection);
  }
  await waitFor(async () => {
    const { rowCount } = await database.query("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'pets.pets'::regclass");
    expect(rowCount).toBeGreaterThan(0);
  });
  const refused = await open();
  refused.write(request('/health/live'));
  const response = await refused.read({ isHead: false });
  expect(response).toMatchObject({ status: 503, headers: { connection: 'close', 'retry-after': '1', 'content-type': 'application/json' } });
  expect(response?.headers['link']).toBe('</docs/errors#service_unavailable>; rel="help"');
  expect(JSON.parse(response?.body ?? '')).toEqual({ code: 'service_unavailable', message: expect.any(String), status: 503 });
  expect(await refused.read({ isHead: false })).toBeUndefined();
  await database.query('COMMIT');
  for (const connection of busy) expect((await connection.read({ isHead: false }))?.status).toBe(200);
  await waitFor(async () => expect(await statusOf(await open())).toBe(200));
  for (const connection of busy) connection.reset();
});
