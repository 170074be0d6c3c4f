import { once } from 'node:events';
import { connect, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { connectAccessUseCases } from '@animal-store/access-infrastructure';
import { createTestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Metrics } from '../observability/metrics.js';
import { BuiltService } from '../testing/built-service.js';
import { RawConnection } from '../testing/fuzz/raw-connection.js';
import { startTestApp, type TestApp } from '../testing/test-app.js';

const BUNDLE = '/docs/assets/swagger-ui-bundle.js';
const MAX_PIPELINED = 64;

const get = (path: string, fields = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`;

/** Sends pipelined requests and does not read the responses. */
async function pipelineUnread(port: number, request: string, times: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  socket.pause();
  socket.write(request.repeat(times));
  return socket;
}

describe('responses that a client does not read', () => {
  const CONNECTIONS = 20;
  const MAX_GROWTH = 64 * 1024 * 1024;
  const close: (() => unknown)[] = [];

  afterEach(async () => {
    for (const end of close.splice(0).reverse()) await end();
  });

  it('take little memory, for every kind of response', async () => {
    const database = await createTestDatabase();
    close.push(() => database.drop());
    const service = await BuiltService.start({
      DATABASE_URL: database.url,
      DRAIN_SECONDS: '0',
      RATE_LIMIT: '0',
      MAX_EVENT_LOOP_LAG_MS: '60000',
    });
    close.push(() => service.stop());
    const access = await connectAccessUseCases(database.url);
    close.push(() => access.close());
    const { secret } = await access.createApiKey.execute({ clientName: 'spec', environment: 'test', scopes: ['pets:read', 'pets:write'] });
    const url = `http://127.0.0.1:${String(service.port)}`;
    const body = JSON.stringify({ name: '犬'.repeat(255), categoryId: 1 });
    const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' };
    for (let i = 0; i < 100; i++) await (await fetch(`${url}/v1/pets`, { method: 'POST', headers, body })).text();

    const paths = [BUNDLE, '/docs/assets/swagger-ui.css', '/docs', '/openapi.json', '/v1/pets?limit=100'];
    for (const path of paths) await (await fetch(url + path, { headers })).text();
    for (const path of paths) {
      const before = await service.memory();
      const request = get(path, `Authorization: Bearer ${secret}\r\n`);
      const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => pipelineUnread(service.port, request, 300)));
      await sleep(500);
      const growth = (await service.memory()) - before;
      expect([path, growth < MAX_GROWTH ? 'little' : growth]).toEqual([path, 'little']);
      expect((await fetch(`${url}/v1/pets`, { headers })).status).toBe(200);
      for (const socket of sockets) socket.destroy();
    }
  });
});

describe('pipelined requests', () => {
  let service: TestApp;

  afterEach(() => service.close());

  const portOf = ({ url }: TestApp) => Number(new URL(url).port);
  const metric = async (pattern: RegExp) => Number(pattern.exec(await service.app.get(Metrics).registry.metrics())?.[1]);
  const inFlight = () => metric(/^http_requests_in_flight (\d+)$/m);

  it('get responses up to the limit; then the connection is closed with 503', async () => {
    service = await startTestApp();
    const connection = await RawConnection.open(portOf(service));
    connection.write(Buffer.from(get('/health/live').repeat(1_000)));
    for (let i = 0; i < MAX_PIPELINED; i++) {
      const response = await connection.read({ isHead: false });
      expect([response?.status, response?.headers['connection']]).toEqual([200, 'keep-alive']);
    }
    const last = await connection.read({ isHead: false });
    expect(last).toMatchObject({ status: 503, headers: { connection: 'close', 'retry-after': '1' } });
    expect(JSON.parse(last?.body ?? '')).toEqual({ code: 'service_unavailable', message: expect.any(String), status: 503 });
    expect(await connection.read({ isHead: false })).toBeUndefined();
    expect(await metric(/^http_requests_shed_total\{reason="pipelined"\} (\d+)$/m)).toBe(1);
  });

  it('are in flight until their responses are read, and are closed in favour of other clients', async () => {
    const MAX_IN_FLIGHT = 100;
    service = await startTestApp({ env: { MAX_IN_FLIGHT: String(MAX_IN_FLIGHT) } });
    const server = service.app.getHttpServer() as Server;
    // Loads the file into memory, so that responses are complete immediately.
    await (await fetch(service.url + BUNDLE)).text();
    const sockets: Socket[] = [];
    for (let i = 0; i < 2; i++) sockets.push(await pipelineUnread(portOf(service), get(BUNDLE), 60));
    await waitFor(async () => expect(await inFlight()).toBeGreaterThan(50));
    for (let i = 0; i < 4; i++) sockets.push(await pipelineUnread(portOf(service), get(BUNDLE), 60));
    await waitFor(async () => expect(await promisify(server.getConnections.bind(server))()).toBeLessThan(sockets.length));
    expect(await inFlight()).toBeLessThanOrEqual(MAX_IN_FLIGHT);
    for (let i = 0; i < 10; i++) expect((await fetch(`${service.url}/v1/pets`)).status).toBe(401);
    for (const socket of sockets) socket.destroy();
    await waitFor(async () => expect(await inFlight()).toBe(0));
  });
});
