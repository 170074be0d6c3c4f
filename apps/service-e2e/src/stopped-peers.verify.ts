import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Outage } from './support/outage.js';

// `npm run verify -- stopped-peers`: peers that accept connections but stop responding, under traffic. For Redis, see the suite `redis`.

const CLIENTS = 8;
/** Time of a request itself on a busy machine. */
const TOLERANCE_MS = 1_000;

let outage: Outage;
let agent: Agent;

beforeEach(async () => {
  outage = await Outage.prepare();
  agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
});
afterEach(async () => {
  agent.destroy();
  await outage.end();
});

interface Response {
  readonly status: number | undefined;
  readonly ms: number;
}

function send(key: string, method: string, body?: string): Promise<Response> {
  const begin = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    request(`${outage.service?.url}/v1/pets`, { method, headers, agent }, (response) => {
      response.resume().on('end', () => resolve({ status: response.statusCode, ms: performance.now() - begin }));
    })
      .on('error', reject)
      .end(body);
  });
}

/** Sends requests from several clients, each every `pauseMs`, whether or not the earlier ones have got a response. */
async function traffic(key: string, ms: number, pauseMs: number): Promise<Response[]> {
  const responses: Promise<Response>[] = [];
  for (const end = performance.now() + ms; performance.now() < end; await sleep(pauseMs)) {
    for (let client = 0; client < CLIENTS; client++)
      responses.push(client % 2 ? send(key, 'GET') : send(key, 'POST', '{"name":"Rex","categoryId":1}'));
  }
  return Promise.all(responses);
}

const slowest = (responses: readonly Response[]) => Math.max(...responses.map(({ ms }) => ms));
const statuses = (responses: readonly Response[]) => [...new Set(responses.map(({ status }) => status))].sort();

it('PostgreSQL: each request gets a response within the time limit of a statement', async () => {
  await outage.start({ DATABASE_CONNECT_TIMEOUT_MS: '500', DATABASE_STATEMENT_TIMEOUT_MS: '1000' });
  agent.maxSockets = Infinity;
  const key = await outage.expectServing();
  outage.proxy.slowDown(600_000);
  const responses = await traffic(key, 10_000, 1_000);
  expect(statuses(responses)).toEqual([503]);
  expect(slowest(responses)).toBeLessThan(500 + 1_000 + 1_000 + TOLERANCE_MS);
  outage.proxy.slowDown(0);
  outage.proxy.disconnect();
  expect(statuses(await traffic(key, 1_000, 500))).toEqual([200, 201]);
});

it('a collector of traces: requests do not wait for it, and it delays the exit by at most two seconds', async () => {
  const sockets: Socket[] = [];
  const collector = createServer((socket) => sockets.push(socket.on('error', () => undefined).resume())).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  const service = await outage.start({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, DRAIN_SECONDS: '0' });
  const key = await outage.expectServing();
  expect(slowest(await traffic(key, 8_000, 50))).toBeLessThan(TOLERANCE_MS);
  expect(sockets.length).toBeGreaterThan(0);
  agent.destroy();
  const begin = performance.now();
  expect(await service.stop()).toBe(0);
  expect(performance.now() - begin).toBeLessThan(2_000 + 2 * TOLERANCE_MS);
  for (const socket of sockets) socket.destroy();
  collector.close();
});
