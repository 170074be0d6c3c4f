import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { startTestApp, type TestApp } from '../testing/test-app.js';
import { Draining } from './draining.js';

let service: TestApp;
let database: Client;
let key: string;

beforeAll(async () => {
  service = await startTestApp();
  key = await service.createKey('pets:read');
  database = new Client({ connectionString: service.databaseUrl });
  await database.connect();
});

afterAll(async () => {
  await database.end();
  await service.close();
});

async function get(path: string): Promise<{ status: number; connection: string | null; body: unknown }> {
  const response = await fetch(service.url + path, { headers: { Authorization: `Bearer ${key}` } });
  return { status: response.status, connection: response.headers.get('connection'), body: await response.json() };
}

const OK = { status: 200, connection: 'keep-alive', body: { status: 'ok' } };
const notReady = (message: string) => ({ status: 503, body: { code: 'service_unavailable', message, status: 503 } });

it('is ready if and only if all its migrations are applied', async () => {
  expect(await get('/health/ready')).toEqual(OK);
  const { rows } = await database.query('DELETE FROM schema_migrations WHERE id = (SELECT max(id) FROM schema_migrations) RETURNING *');
  expect(await get('/health/ready')).toMatchObject(notReady('Migrations are pending.'));
  await database.query('ALTER TABLE schema_migrations RENAME TO hidden');
  expect(await get('/health/ready')).toMatchObject(notReady('Migrations are pending.'));
  expect(await get('/health/live')).toEqual(OK);
  await database.query('ALTER TABLE hidden RENAME TO schema_migrations');
  const { timestamp, name } = rows[0] as { timestamp: string; name: string };
  await database.query('INSERT INTO schema_migrations (timestamp, name) VALUES ($1, $2)', [timestamp, name]);
  expect(await get('/health/ready')).toEqual(OK);
  // A migration of a newer version.
  await database.query(`INSERT INTO schema_migrations (timestamp, name) VALUES (9999999999999, 'FromTheFuture9999999999999')`);
  expect(await get('/health/ready')).toEqual(OK);
});

it('while draining, is not ready, still serves, and closes each connection with its next response', async () => {
  expect(await get('/v1/pets')).toMatchObject({ status: 200, connection: 'keep-alive' });
  service.app.get(Draining).begin();
  expect(await get('/health/ready')).toMatchObject({ ...notReady('The process is shutting down.'), connection: 'close' });
  expect(await get('/health/live')).toEqual({ ...OK, connection: 'close' });
  expect(await get('/v1/pets')).toEqual({ status: 200, connection: 'close', body: [] });
});
