import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import { type Context, contexts } from '../contexts.js';
import { RawConnection } from './testing/raw-connection.js';
import { useTestApp } from './testing/test-app.js';

@Controller({ path: 'forgetful', version: '1' })
class ForgetfulController {
  @Get()
  listSecrets(): string[] {
    return ['secret'];
  }
}

@Module({ controllers: [ForgetfulController] })
class ForgetfulModule {
  static readonly persistence = { schema: 'forgetful', entities: [], migrations: [] };
}

// Another context with a controller that declares nothing, for the app of this file.
(contexts as Context[]).push(ForgetfulModule);
const service = useTestApp(['pets:read', 'pets:write'], { env: { TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT: '0' } });
afterAll(() => void (contexts as Context[]).pop());

it('rejects all requests to a route that declares neither scopes nor @Public', async () => {
  for (const [headers, status, code] of [
    [{}, 401, 'missing_api_key'],
    [{ Authorization: `Bearer ${service.key}` }, 403, 'insufficient_scope'],
  ] as const) {
    const response = await fetch(`${service.url}/v1/forgetful`, { headers });
    expect([response.status, await response.json()]).toEqual([status, expect.objectContaining({ code, status })]);
  }
});

describe('addresses in requests', () => {
  const HEADERS = [
    ...['Host', 'Origin', 'Referer', 'User-Agent', 'Accept', 'Cookie', 'Prefer', 'If-None-Match', 'Idempotency-Key', 'traceparent'],
    ...['tracestate', 'baggage', 'Forwarded', 'X-Forwarded-For', 'X-Forwarded-Host', 'X-Original-URL', 'X-Rewrite-URL', 'X-Request-Id'],
    ...['Link', 'Location', 'Callback', 'X-Callback-URL', 'X-Wap-Profile', 'True-Client-IP', 'Content-Location', 'Proxy'],
  ];

  /** A server that is only reached if the service connects to addresses from requests. */
  const canary = createServer((socket) => {
    reached++;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  let reached = 0;
  let address = '';

  beforeAll(() => {
    address = `http://127.0.0.1:${String((canary.address() as AddressInfo).port)}/`;
  });

  afterAll(() => void canary.close());

  async function send(method: string, target: string, headers: readonly string[] = [], body = ''): Promise<number | undefined> {
    const connection = await RawConnection.open(Number(new URL(service.url).port));
    const fields = [`Authorization: Bearer ${service.key}`, `Content-Length: ${String(Buffer.byteLength(body))}`, ...headers];
    if (!headers.some((header) => header.startsWith('Host:'))) fields.push('Host: localhost');
    connection.write(`${method} ${target} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${body}`);
    const response = await connection.read();
    connection.reset();
    return response?.status;
  }

  it('connects to no address from a request', async () => {
    const { host } = new URL(address);
    for (const name of HEADERS) {
      for (const value of [address, host]) {
        expect(await send('GET', '/v1/pets', [`${name}: ${value}`])).toBeDefined();
        expect(
          await send('POST', '/v1/pets', [`${name}: ${value}`, 'Content-Type: application/json'], '{"name":"Rex","categoryId":7}'),
        ).toBeDefined();
      }
    }
    for (const target of [`${address}v1/pets`, `/v1/pets?url=${address}`, `/v1/pets/${address}`, `/docs/${address}`, `/${address}`, host]) {
      for (const method of ['GET', 'POST', 'OPTIONS', 'CONNECT']) expect(await send(method, target)).toBeDefined();
    }
    const members = ['name', 'url', 'callback', 'callbackUrl', 'photoUrl', 'webhook', '$ref', '$schema', '@context', 'href'];
    const json = JSON.stringify({ categoryId: 7, ...Object.fromEntries(members.map((name) => [name, address])) });
    expect(await send('POST', '/v1/pets', ['Content-Type: application/json'], json)).toBe(201);
    const xml = `<?xml version="1.0"?><!DOCTYPE pet SYSTEM "${address}"><pet/>`;
    expect(await send('POST', '/v1/pets', ['Content-Type: application/xml'], xml)).toBe(415);

    // The canary works: our connection is the only one it has counted.
    const own = connect((canary.address() as AddressInfo).port, '127.0.0.1');
    own.resume();
    await once(own, 'close');
    expect(reached).toBe(1);
  });
});
