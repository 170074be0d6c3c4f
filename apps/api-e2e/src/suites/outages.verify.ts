import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Outage } from '../support/outage.js';
import type { Environment } from '../support/service.js';

// Not part of `npm test`, since these tests wait for real periods under traffic.

const CLIENTS = 8;
/** Time of a request itself on a busy machine. */
const TOLERANCE_MS = 4_000;

let outage: Outage;
let agent: Agent;
let key: string;

beforeEach(async () => {
  outage = await Outage.prepare();
  agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
});
afterEach(async () => {
  agent.destroy();
  await outage.end();
});

async function serve(environment: Environment = {}) {
  const service = await outage.start({ RATE_LIMIT: '0', MAX_EVENT_LOOP_LAG_MS: '60000', ...environment });
  key = await outage.expectServing();
  return service;
}

interface Response {
  readonly status: number | undefined;
  readonly ms: number;
}

function send(method: string, body?: string): Promise<Response> {
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
async function traffic(ms: number, pauseMs: number): Promise<Response[]> {
  const responses: Promise<Response>[] = [];
  for (const end = performance.now() + ms; performance.now() < end; await sleep(pauseMs)) {
    for (let client = 0; client < CLIENTS; client++)
      responses.push(client % 2 ? send('GET') : send('POST', '{"name":"Rex","categoryId":1}'));
  }
  return Promise.all(responses);
}

const slowest = (responses: readonly Response[]) => Math.max(...responses.map(({ ms }) => ms));
const statuses = (responses: readonly Response[]) => [...new Set(responses.map(({ status }) => status))].sort();

describe('a peer that accepts connections but does not respond', () => {
  it('PostgreSQL: each request gets a response within the time limit of a statement', async () => {
    await serve({ DATABASE_CONNECT_TIMEOUT_MS: '500', DATABASE_STATEMENT_TIMEOUT_MS: '1000' });
    agent.maxSockets = Infinity;
    outage.proxy.slowDown(600_000);
    const responses = await traffic(10_000, 1_000);
    expect(statuses(responses)).toEqual([503]);
    expect(slowest(responses)).toBeLessThan(500 + 1_000 + 1_000 + TOLERANCE_MS);
    outage.proxy.slowDown(0);
    outage.proxy.disconnect();
    await waitFor(async () => expect(statuses(await traffic(1_000, 500))).toEqual([200, 201]));
  });

  it('a collector of traces: requests do not wait for it, and it delays the exit by at most two seconds', async () => {
    const sockets: Socket[] = [];
    const collector = createServer((socket) => sockets.push(socket.on('error', () => undefined).resume())).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const { port } = collector.address() as AddressInfo;
    const service = await serve({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, DRAIN_SECONDS: '0' });
    expect(slowest(await traffic(8_000, 200))).toBeLessThan(TOLERANCE_MS);
    expect(sockets.length).toBeGreaterThan(0);
    agent.destroy();
    const begin = performance.now();
    expect(await service.stop()).toBe(0);
    expect(performance.now() - begin).toBeLessThan(2_000 + 2 * TOLERANCE_MS);
    for (const socket of sockets) socket.destroy();
    collector.close();
  });
});

describe('responses that a client does not read', () => {
  const CONNECTIONS = 20;
  const MAX_GROWTH = 64 * 1024 * 1024;

  it('take little memory, for every kind of response', async () => {
    const service = await serve();
    const { url } = service;
    const body = JSON.stringify({ name: '犬'.repeat(255), categoryId: 1 });
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    for (let i = 0; i < 100; i++) await (await fetch(`${url}/v1/pets`, { method: 'POST', headers, body })).text();

    const paths = ['/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css', '/docs', '/openapi.json', '/v1/pets?limit=100'];
    for (const path of paths) await (await fetch(url + path, { headers })).text();
    for (const path of paths) {
      const before = service.memory;
      const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => pipelineUnread(service.port, path, 300)));
      // The service goes on until the buffers of the kernel are full.
      await sleep(500);
      const growth = service.memory - before;
      expect([path, growth < MAX_GROWTH ? 'little' : growth]).toEqual([path, 'little']);
      expect((await fetch(`${url}/v1/pets`, { headers })).status).toBe(200);
      for (const socket of sockets) socket.destroy();
    }
  });

  /** Sends pipelined requests and does not read the responses. */
  async function pipelineUnread(port: number, path: string, times: number): Promise<Socket> {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`.repeat(times));
    return socket;
  }
});
