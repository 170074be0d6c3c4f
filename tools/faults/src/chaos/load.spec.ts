import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { Ledger } from '../ledger.js';
import { Load, Observations } from './load.js';
import { Random } from '../random.js';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function startLoad(respond: (request: IncomingMessage, response: ServerResponse) => void): Promise<{ load: Load; ledger: Ledger }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => respond(request, response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ledger = new Ledger();
  const load = new Load(`http://127.0.0.1:${port}`, ['key'], ledger, new Random(1), 2);
  cleanUps.push(async () => {
    await load.stop();
    server.closeAllConnections();
    server.close();
  });
  return { load, ledger };
}

const pet = (id: bigint) => `{"id":${id},"name":"Rex","categoryId":1,"status":"available"}`;

function respondWith(response: ServerResponse, status: number): void {
  response.writeHead(status).end(JSON.stringify({ code: 'some_code', message: 'Some message.', status }));
}

it('reports when each operation has succeeded again, and its observations', async () => {
  const { load, ledger } = await startLoad(({ method }, response) => {
    response.writeHead(method === 'POST' ? 201 : 200).end(pet(9007199254740993n));
  });
  const recovery = load.recovery();
  load.start(2);
  expect(await recovery).toBeGreaterThan(0);
  expect(load.nextPhase().acceptedMs.length).toBeGreaterThanOrEqual(3);
  await load.stop();
  expect(ledger.problems).toEqual([]);
});

it('retries a creation with its key until it gets a response, and counts shed and dropped requests', async () => {
  const keys: unknown[] = [];
  let resolveCreated: (() => void) | undefined;
  const created = new Promise<void>((resolve) => (resolveCreated = resolve));
  const { load, ledger } = await startLoad(({ method, headers }, response) => {
    if (method !== 'POST') return void response.writeHead(200).end('[]');
    keys.push(headers['idempotency-key']);
    if (keys.length === 1) return respondWith(response, 503);
    if (keys.length === 2) return respondWith(response, 429);
    if (keys.length === 3) return void response.destroy();
    // A response that ends early.
    if (keys.length === 4) return void response.writeHead(201, { 'Content-Length': 100 }).write('{', () => response.destroy());
    response.writeHead(201).end(pet(7n));
    resolveCreated?.();
  });
  load.start(1);
  await created;
  await load.stop();
  expect(new Set(keys.slice(0, 5)).size).toBe(1);
  expect(keys[0]).toMatch(/^"chaos-\d+-0"$/);
  expect(load.observations.shed).toBe(2);
  expect(load.observations.dropped).toEqual([
    expect.stringMatching(/^createPet after \d+ ms on a connection used before: socket hang up$/),
    expect.stringMatching(/^createPet after \d+ ms on a new connection: aborted$/),
  ]);
  expect(ledger.problems).toEqual([]);
});

it('excuses every request that is in flight while drops are allowed, whenever it ends', async () => {
  const silent: ServerResponse[] = [];
  let three: (() => void) | undefined;
  const sent = new Promise<void>((resolve) => (three = resolve));
  const { load } = await startLoad(({ method }, response) => {
    if (silent.push(response) === 3) three?.();
    if (silent.length > 3) response.writeHead(method === 'POST' ? 201 : 200).end(pet(7n));
  });
  load.start(3);
  await sent;
  load.allowDrops(true);
  load.allowDrops(false);
  silent[0]?.destroy();
  silent[1]?.destroy();
  await load.recovery().then(() => silent[2]?.destroy());
  await load.stop();
  expect(load.observations).toMatchObject({ excused: 3, dropped: [] });
});

it('returns quantiles, also of an empty list', () => {
  const observations = new Observations();
  expect(observations.quantile(0.99)).toBe(0);
  observations.acceptedMs.push(3, 1, 2);
  expect([0, 0.5, 1].map((share) => observations.quantile(share))).toEqual([1, 2, 3]);
});
