import { AuthenticateApiKey } from '@animal-store/access-application';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { DataSource } from 'typeorm';
import { RawConnection } from '../testing/fuzz/raw-connection.js';
import { startTestApp, type TestApp } from '../testing/test-app.js';

const UPGRADE = 'Host: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n';

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp();
});

afterAll(() => service.close());

async function countSmuggled(): Promise<number> {
  const rows: unknown[] = await service.app.get(DataSource).query(`SELECT 1 FROM pets.pets WHERE name = 'smuggled'`);
  return rows.length;
}

async function smuggledRequest(): Promise<string> {
  const pet = '{"name":"smuggled","categoryId":7}';
  const fields = `Host: localhost\r\nAuthorization: Bearer ${await service.createKey('pets:write')}\r\nContent-Type: application/json\r\n`;
  return `POST /v1/pets HTTP/1.1\r\n${fields}Content-Length: ${String(pet.length)}\r\n\r\n${pet}`;
}

const connect = () => RawConnection.open(Number(new URL(service.url).port));

it.each([
  ['GET', '/health/live', 0, 200],
  ['POST', '/v1/pets', 300_000, 401],
  ['OPTIONS', '/v1/pets', 300_000, 204],
  ['PUT', '/missing', 300_000, 404],
])('%s %s with an Upgrade header is processed, and then its connection is closed', async (method, path, length, status) => {
  const connection = await connect();
  connection.write(Buffer.from(`${method} ${path} HTTP/1.1\r\n${UPGRADE}Content-Length: ${String(length)}\r\n\r\n${'x'.repeat(length)}`));
  expect(await connection.read({ isHead: false })).toMatchObject({ status, headers: { connection: 'close' } });
  connection.reset();
});

it.each([
  ['no Host', 'GET /health/live HTTP/1.1\r\n\r\n', 400],
  ['an invalid Host', 'GET /health/live HTTP/1.1\r\nHost: a b\r\n\r\n', 400],
  ['an unsupported expectation', 'GET /health/live HTTP/1.1\r\nHost: localhost\r\nExpect: nonsense\r\n\r\n', 417],
])('processes no request after one with %s', async (_, request, status) => {
  const connection = await connect();
  const authenticate = jest.spyOn(service.app.get(AuthenticateApiKey, { strict: false }), 'execute');
  connection.write(Buffer.from(request + (await smuggledRequest())));
  expect(await connection.read({ isHead: false })).toMatchObject({ status, headers: { connection: 'close' } });
  expect(await connection.read({ isHead: false })).toBeUndefined();
  await fetch(`${service.url}/health/ready`).then((response) => response.text());
  expect(authenticate).not.toHaveBeenCalled();
  expect(await countSmuggled()).toBe(0);
});

it('processes the next request after a 414', async () => {
  const connection = await connect();
  connection.write(
    Buffer.from(`GET /${'a'.repeat(5_000)} HTTP/1.1\r\nHost: localhost\r\n\r\nGET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n`),
  );
  expect(await connection.read({ isHead: false })).toMatchObject({ status: 414 });
  expect(await connection.read({ isHead: false })).toMatchObject({ status: 200 });
  connection.reset();
});

it('processes no request after one with an Upgrade header, because it may be part of a body', async () => {
  const dataSource = service.app.get(DataSource);
  const inner = await smuggledRequest();
  const authorization = `Authorization: Bearer ${await service.createKey('pets:read')}\r\n`;
  const blocker = dataSource.createQueryRunner();
  await blocker.query('BEGIN');
  await blocker.query('LOCK TABLE pets.pets');
  const connection = await connect();
  connection.write(
    Buffer.from(
      `GET /v1/pets HTTP/1.1\r\n${UPGRADE}${authorization}\r\nPOST /missing HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${String(inner.length)}\r\n\r\n`,
    ),
  );
  await waitFor(async () => {
    expect(await dataSource.query("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'pets.pets'::regclass")).toHaveLength(1);
  });
  // The connection is still open, because the first request is in progress.
  connection.write(Buffer.from(inner));
  await fetch(`${service.url}/health/live`).then((response) => response.text());
  await blocker.query('COMMIT');
  await blocker.release();
  expect(await connection.read({ isHead: false })).toMatchObject({ status: 200, headers: { connection: 'close' } });
  expect(await connection.read({ isHead: false })).toBeUndefined();
  expect(await countSmuggled()).toBe(0);
});
