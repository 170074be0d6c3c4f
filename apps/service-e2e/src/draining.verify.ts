import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { insertKey } from '@animal-store/api-e2e/support/keys';
import { createStoreDatabase, Service } from '@animal-store/api-e2e/support/service';
import { type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client } from 'pg';

// Not part of `npm test`, since it waits for the real period. apps/api tests the shutdown with a shorter one.

let database: TestDatabase;
let key: string;

beforeAll(async () => {
  database = await createStoreDatabase();
  ({ key } = await insertKey(database.url, 'suite'));
});
afterAll(() => database.drop());

it.each(['SIGTERM', 'SIGINT'] as const)('%s closes requests still running 15 seconds later and exits with code 0', async (signal) => {
  const service = await Service.start(database.url, { DATABASE_STATEMENT_TIMEOUT_MS: '0', DRAIN_SECONDS: '0' });
  const other = new Client({ connectionString: database.url });
  await other.connect();
  await other.query('BEGIN');
  await other.query('LOCK TABLE pets.pets IN ACCESS EXCLUSIVE MODE');
  const read = fetch(`${service.url}/v1/pets`, { headers: { Authorization: `Bearer ${key}` } }).catch(() => 'cut');
  const waiting = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'pets.pets'::regclass`;
  await waitFor(async () => expect((await other.query(waiting)).rowCount).toBe(1));
  const stoppedAt = performance.now();
  const exit = service.stop(signal);
  expect(await read).toBe('cut');
  expect(performance.now() - stoppedAt).toBeGreaterThan(14_500);
  expect(await exit).toBe(0);
  expect(service.output).toContain('requests or jobs did not finish in time; closing connections');
  await other.end();
});

/** Opens a connection that sends a part of a request and never ends its side. Resolves to the response. */
async function sendPart(url: string, part: string): Promise<string> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  socket.write(part);
  return text(socket);
}

it('half-received requests get 408 after SIGTERM, and one client cannot delay the exit', async () => {
  const service = await Service.start(database.url, { DRAIN_SECONDS: '1' });
  const get = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const post = `POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 30\r\nAuthorization: Bearer ${key}\r\n\r\n{`;
  const exit = service.stop('SIGTERM');
  await service.waitFor(/"draining"/);
  const responses = [get.slice(0, -4), post, get + get.slice(0, 1), get + post, ''].map((part) => sendPart(service.url, part));
  const startedAt = performance.now();
  const statuses = (await Promise.all(responses)).map((response) =>
    Array.from(response.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => status),
  );
  // After a response that closes the connection, the rest is dropped.
  expect(statuses.map((all) => all.at(-1))).toEqual([
    '408',
    '408',
    expect.stringMatching(/200|408/),
    expect.stringMatching(/200|408/),
    undefined,
  ]);
  expect(await exit).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(13_500);
  expect(service.output).not.toContain('did not finish in time');
});
