import { connect, type Socket } from 'node:net';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Metrics } from '../observability/metrics.js';
import { startTestApp, type TestApp } from '../testing/test-app.js';

const MAX_IN_FLIGHT = 16;
const MAX_OF_ADDRESS = MAX_IN_FLIGHT / 4;

interface Client {
  readonly socket: Socket;
  received: string;
}

describe('requests with incomplete bodies', () => {
  let service: TestApp;
  let key: string;
  let clients: Client[];

  beforeEach(async () => {
    service = await startTestApp({ env: { MAX_IN_FLIGHT: String(MAX_IN_FLIGHT), TRUSTED_PROXIES: '127.0.0.1' } });
    key = await service.createKey('pets:read', 'pets:write');
    clients = [];
  });

  afterEach(async () => {
    for (const { socket } of clients) socket.destroy();
    await service.close();
  });

  const BODY = '{"name":"Rex","categoryId":7}';

  function send(address: string, fields: string, body: string): Client {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => undefined);
    const client: Client = { socket, received: '' };
    clients.push(client);
    socket.on('data', (data) => (client.received += data.toString()));
    const length = `Content-Type: application/json\r\nContent-Length: ${String(BODY.length)}`;
    socket.write(`POST /v1/pets HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n${fields}${length}\r\n\r\n${body}`);
    return client;
  }

  const authorization = () => `Authorization: Bearer ${key}\r\n`;
  const statusesOf = (some: readonly Client[]) => some.map(({ received }) => received.match(/(?<=^HTTP\/1.1 )\d+/gm)?.join() ?? '');
  const statusOf = async (method: string) => {
    const init = { method, headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' } };
    return (await fetch(`${service.url}/v1/pets`, { ...init, ...(method === 'POST' && { body: BODY }) })).status;
  };

  it('are not in flight, and do not block other clients', async () => {
    for (let i = 0; i < 3 * MAX_IN_FLIGHT; i++) send(`192.0.2.${String(i)}`, '', '{"name":');
    await waitFor(() => expect(statusesOf(clients).filter((status) => status === '401')).toHaveLength(2 * MAX_IN_FLIGHT));
    expect(await service.app.get(Metrics).registry.metrics()).toMatch(/^http_requests_in_flight 0$/m);
    expect([await statusOf('GET'), await statusOf('POST')]).toEqual([200, 201]);
  });

  it('are refused in favour of newer ones of the same address, the oldest first', async () => {
    const other = send('198.51.100.1', authorization(), BODY.slice(0, 5));
    await waitFor(async () => expect(await statusOf('GET')).toBe(200));
    const same: Client[] = [];
    for (let i = 0; i < MAX_OF_ADDRESS + 2; i++) {
      same.push(send('192.0.2.1', authorization(), BODY.slice(0, 5)));
      await statusOf('GET');
    }
    await waitFor(() => expect(statusesOf(same)).toEqual(['503', '503', ...Array.from({ length: MAX_OF_ADDRESS }, () => '')]));
    for (const { socket } of [other, ...same]) socket.write(BODY.slice(5));
    const created = Array.from({ length: MAX_OF_ADDRESS }, () => '201');
    await waitFor(() => expect(statusesOf([other, ...same])).toEqual(['201', '503', '503', ...created]));
  });

  it('no longer count when their clients have disconnected', async () => {
    for (let i = 0; i < MAX_OF_ADDRESS; i++) send('192.0.2.1', authorization(), BODY.slice(0, 5));
    await statusOf('GET');
    for (const { socket } of clients) socket.destroy();
    await statusOf('GET');
    const later = Array.from({ length: MAX_OF_ADDRESS + 1 }, () => send('192.0.2.1', authorization(), BODY.slice(0, 5)));
    await waitFor(() => expect(statusesOf(later).sort().at(-1)).toBe('503'));
    for (const { socket } of later) socket.write(BODY.slice(5));
    const created = Array.from({ length: MAX_OF_ADDRESS }, () => '201');
    await waitFor(() => expect(statusesOf(later).sort()).toEqual([...created, '503']));
  });
});
