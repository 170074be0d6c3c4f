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

describe('Idempotency-Key on createPet', () => {
  async function create(idempotencyKey: string, body: string) {
    const response = await fetch(`${service.url}/v1/pets`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
      body,
    });
    const { headers, status } = response;
    return { status, text: await response.text(), location: headers.get('location'), replayed: headers.get('idempotent-replayed') };
  }

  it.each([
    ['9007199254740993', '9007199254740993'],
    ['7', '7.0'],
    ['7', '7e0'],
  ])('returns the first response to a repeated request, even if the body is formatted differently: %s, %s', async (number, repeated) => {
    const key = `order-${number}-${repeated}`;
    const plain = `{"name":"Rex","categoryId":${number}}`;
    const first = await create(`"${key}"`, plain);
    expect(first).toMatchObject({ status: 201, replayed: null, text: expect.stringContaining(`"categoryId":${number},`) });
    for (const [idempotencyKey, body] of [
      [key, plain],
      [`"${key}"`, `{ "categoryId": ${repeated}, "status": "available", "name": "R\\u0065x", "other": 1 }`],
    ] as const) {
      expect(await create(idempotencyKey, body)).toEqual({ ...first, replayed: 'true' });
    }
  });

  it('is rejected for a different animal, and if it is malformed', async () => {
    await create('order-2', '{"name":"Rex","categoryId":1}');
    const reused = await create('order-2', '{"name":"Rex","categoryId":2}');
    expect([reused.status, JSON.parse(reused.text)]).toEqual([
      422,
      { code: 'idempotency_key_reused', message: expect.any(String), status: 422 },
    ]);
    for (const malformed of ['a b', '"a', '', '"a b"', 'x'.repeat(256)]) {
      const rejected = await create(malformed, '{"name":"Rex","categoryId":1}');
      expect([malformed, rejected.status, (JSON.parse(rejected.text) as { code: string }).code]).toEqual([
        malformed,
        400,
        'invalid_request',
      ]);
    }
  });

  it.each([
    ['{"name":"","categoryId":"1"}', /^Idempotency-Key must be .*; name must be .*; categoryId must be /],
    ['', /^Idempotency-Key must be .*; A JSON object is required as the body\.$/],
    ['{"name":"Rex","categoryId":1}', /^Idempotency-Key must be [^;]*$/],
  ])('is named in one error with the violations of the body %j', async (body, message) => {
    const { status, text } = await create('a b', body);
    expect([status, JSON.parse(text)]).toEqual([400, { code: 'invalid_request', message: expect.stringMatching(message), status: 400 }]);
  });

  it('is only stored for successful creations', async () => {
    expect((await create('order-3', '{"name":"","categoryId":1}')).status).toBe(400);
    expect(await create('order-3', '{"name":"Rex","categoryId":1}')).toMatchObject({ status: 201, replayed: null });
  });
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
