import { DataSource } from 'typeorm';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { RawConnection } from '../testing/fuzz/raw-connection.js';
import { startTestApp, type TestApp } from '../testing/test-app.js';

const UPGRADE = 'Host: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n';

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp();
});

afterAll(() => service.close());

const connect = () => RawConnection.open(Number(new URL(service.url).port));

it.each([
  ['GET', '/health/live', 0, 200],
  ['POST', '/v1/pets', 300_000, 401],
  ['OPTIONS', '/v1/pets', 300_000, 204],
  ['PUT', '/missing', 300_000, 404],
])('%s %s that asks for another protocol is served, and the last of its connection', async (method, path, length, status) => {
  const connection = await connect();
  connection.write(Buffer.from(`${method} ${path} HTTP/1.1\r\n${UPGRADE}Content-Length: ${String(length)}\r\n\r\n${'x'.repeat(length)}`));
  expect(await connection.read({ isHead: false })).toMatchObject({ status, headers: { connection: 'close' } });
  connection.reset();
});

it('what follows such a request is never carried out: it may be the middle of a body', async () => {
  const dataSource = service.app.get(DataSource);
  const key = await service.createKey('pets:read', 'pets:write');
  const authorization = `Authorization: Bearer ${key}\r\n`;
  const pet = '{"name":"smuggled","categoryId":7}';
  const inner = `POST /v1/pets HTTP/1.1\r\nHost: localhost\r\n${authorization}Content-Type: application/json\r\nContent-Length: ${String(pet.length)}\r\n\r\n${pet}`;
  const blocker = dataSource.createQueryRunner();
  await blocker.query('BEGIN');
  await blocker.query('LOCK TABLE pets.pets');
  const connection = await connect();
  connection.write(
    Buffer.from(
      `GET /v1/pets HTTP/1.1\r\n${UPGRADE}${authorization}\r\nPOST /missing HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${String(inner.length)}\r\n\r\n`,
    ),
  );
  await vi.waitFor(async () => {
    expect(await dataSource.query("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'pets.pets'::regclass")).toHaveLength(1);
  });
  // The first request is still being answered, so the connection is open.
  connection.write(Buffer.from(inner));
  await fetch(`${service.url}/health/live`).then((response) => response.text());
  await blocker.query('COMMIT');
  await blocker.release();
  expect(await connection.read({ isHead: false })).toMatchObject({ status: 200, headers: { connection: 'close' } });
  expect(await connection.read({ isHead: false })).toBeUndefined();
  expect(await dataSource.query('SELECT 1 FROM pets.pets')).toEqual([]);
});
