import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { generateApiKeySecret, type KeyEnvironment, prefixOf, type ApiKeySecret } from '@animal-store/access-domain';
import { TcpProxy } from '@animal-store/local-postgres/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { startAdminServer } from '../process/admin-server.js';
import { collectDefaultMetrics } from 'prom-client';
import { createLogger } from './logger.js';
import { Metrics } from './metrics.js';
import { type RawResponse, RawConnection } from '@animal-store/test-kit/raw-connection';
import { startTestApp, type TestApp } from '../http/testing/test-app.js';
import { startTraceCollector } from './testing/trace-collector.js';

const RATE_LIMIT = 300;
const JSON_TYPE = 'Content-Type: application/json';
/** All statuses of the error catalogue, and the 2xx statuses of the operations. */
const ALL_STATUSES = [200, 201, 400, 401, 403, 404, 405, 408, 410, 413, 414, 415, 417, 422, 429, 431, 500, 503];

/** All output of the service except bodies of 2xx responses, which return names of pets unchanged. */
const outputs = { log: '', responses: '', metrics: '', traces: '' };
const statuses = new Set<number>();
let keys: readonly ApiKeySecret[];
let url: string;
let databaseUrl: string;

async function exchange(request: string): Promise<RawResponse | undefined> {
  const connection = await RawConnection.open(url);
  connection.write(Buffer.from(request, 'latin1'));
  const response = await connection.read();
  connection.reset();
  if (!response) return undefined;
  statuses.add(response.status);
  outputs.responses += `${JSON.stringify(response.headers)}\n${response.status < 300 ? '' : response.body}\n`;
  return response;
}

function send(method: string, target: string, headers: readonly string[], body?: string): Promise<RawResponse | undefined> {
  const framing = body === undefined ? [] : [`Content-Length: ${String(body.length)}`];
  return exchange([`${method} ${target} HTTP/1.1`, 'Host: localhost', ...headers, ...framing, '', body ?? ''].join('\r\n'));
}

/** Sends requests with a valid key in the right place and `key` in wrong places. */
async function sendKeyEverywhere(good: string, key: string): Promise<void> {
  const authorization = `Authorization: Bearer ${good}`;
  const encoded = key.replaceAll('_', '%5F');
  const create = (body: string, ...headers: string[]) => send('POST', '/v1/pets', [authorization, JSON_TYPE, ...headers], body);

  for (const field of [`Bearer ${key}`, `Bearer ${key}x`, `Bearer ${key}, Bearer ${key}`, `Basic ${key}`, key, '']) {
    await send('GET', '/v1/pets', [`Authorization: ${field}`]);
  }
  for (const target of [key, encoded, `v1/pets/${key}`, `v1/pets/${encoded}`, `docs/assets/${key}`, `${key}${'a'.repeat(5000)}`]) {
    for (const method of ['GET', 'DELETE']) await send(method, `/${target}`, [authorization]);
  }
  for (const target of [`http://${key}@localhost/v1/pets`, `http://${key}/v1/pets`, `http://localhost/${key}`, key]) {
    await send('GET', target, [authorization]);
  }
  for (const query of [`api_key=${key}`, key, `limit=${key}`, `status=${key}`, `cursor=${key}`, `${encoded}=${encoded}`]) {
    await send('GET', `/v1/pets?${query}`, [authorization]);
    await send('GET', `/v1/pets?${query}`, [authorization, 'Prefer: handling=strict']);
    await send('GET', `/v1/pets?${query}`, []);
  }
  for (const name of ['X-Api-Key', 'X-Request-Id', 'Cookie', 'Prefer', 'If-None-Match', 'traceparent', 'tracestate', 'baggage', 'Origin']) {
    await send('GET', '/v1/pets', [authorization, `${name}: ${key}`]);
  }
  for (const name of ['User-Agent', 'Referer', 'Accept', 'Expect', 'X-Forwarded-For', 'X-Forwarded-Host', 'Forwarded', 'Upgrade', key]) {
    await send('GET', '/v1/pets/0', [authorization, `${name}: ${key}`]);
  }
  await send('GET', '/v1/pets', [authorization, `Host: ${key}`]);
  await send('GET', '/v1/pets', [authorization, `X: ${key.repeat(200)}`]);
  await send('POST', '/v1/pets', [authorization, `Content-Type: application/${key}`], key);
  await send('POST', '/v1/pets', [authorization, JSON_TYPE, `Content-Encoding: ${key}`], key);
  for (const body of [
    key,
    `"${key}"`,
    `{"name":"${key}","categoryId":7}`,
    `{"name":"${key}","categoryId":"${key}","status":"${key}"}`,
    `{"name":"${key}\\u0000","categoryId":7}`,
    `{"${key}":"${key}","name":"Rex","categoryId":7`,
    `{"name":"${key}","categoryId":7,"x":"${'x'.repeat(70_000)}"}`,
  ]) {
    await create(body);
  }
  await create(`{"${key}":"${key}","name":"Rex","categoryId":7}`, 'Prefer: handling=strict');
  await create('{"name":"Rex","categoryId":7}', `Idempotency-Key: ${key}`);
  await create('{"name":"Max","categoryId":7}', `Idempotency-Key: ${key}`);
  await create('{"name":"Max","categoryId":7}', `Idempotency-Key: ${key} ${key}`);
  for (const bytes of [`${key} / HTTP/1.1\r\n\r\n`, `GET / HTTP/${key}\r\n\r\n`, `GET / HTTP/1.1\r\n${key}\r\n\r\n`, `${key}\r\n\r\n`]) {
    await exchange(bytes);
  }
}

/** Causes internal errors with a key in the values of a statement and in a message of PostgreSQL. */
async function provokeInternalErrors({ app }: TestApp, key: string): Promise<void> {
  const database = app.get(DataSource);
  await database.query(`
    CREATE FUNCTION pets.quote_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room for %', NEW.name; END $$;
    CREATE TRIGGER quote_row BEFORE INSERT ON pets.pets FOR EACH ROW EXECUTE FUNCTION pets.quote_row()`);
  const headers = [`Authorization: Bearer ${key}`, JSON_TYPE];
  for (const extra of [[], [`Idempotency-Key: internal-${key}`]]) {
    await send('POST', '/v1/pets', [...headers, ...extra], `{"name":"${key}","categoryId":7}`);
  }
  await database.query('DROP TRIGGER quote_row ON pets.pets');
}

async function exceedRateLimit(key: string): Promise<void> {
  for (let i = 0; i < RATE_LIMIT && !statuses.has(429); i++) await send('GET', '/v1/pets', [`Authorization: Bearer ${key}`]);
}

beforeAll(async () => {
  const collector = await startTraceCollector();
  let proxy: TcpProxy | undefined;
  let now = new Date();
  const service = await startTestApp({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      RATE_LIMIT: String(RATE_LIMIT),
      CORS_ORIGINS: 'https://app.example',
      MAX_EVENT_LOOP_LAG_MS: '60000',
    },
    logger: createLogger('debug', { write: (line) => (outputs.log += line) }),
    clock: { now: () => now },
    databaseUrl: async (url) => {
      proxy = await TcpProxy.start(url);
      return (databaseUrl = proxy.url);
    },
  });
  ({ url } = service);
  const full = await service.createKey('pets:read', 'pets:write');
  const other = await service.createKey('pets:read', 'pets:write');
  const readOnly = await service.createKey('pets:read');
  const unknown = generateApiKeySecret('test' as KeyEnvironment);
  keys = [full as ApiKeySecret, readOnly as ApiKeySecret, other as ApiKeySecret, unknown];
  // The server responds with 408 after some seconds.
  const unfinished = exchange(`GET /v1/pets?api_key=${full} HTTP/1.1\r\nAuthorization: Bearer ${full}\r\n`);

  await sendKeyEverywhere(full, full);
  await sendKeyEverywhere(other, unknown);
  await send('POST', '/v1/pets', [`Authorization: Bearer ${readOnly}`, JSON_TYPE], `{"name":"${readOnly}","categoryId":7}`);
  await provokeInternalErrors(service, full);
  now = new Date('2030-12-05T00:00:00Z');
  await send('GET', `/v1/pets/${full}?${full}`, [`Authorization: Bearer ${other}`]);
  now = new Date();
  await proxy?.cut();
  await sendKeyEverywhere(full, unknown);
  await proxy?.restore();
  await exceedRateLimit(readOnly);
  await unfinished;

  const metrics = service.app.get(Metrics);
  collectDefaultMetrics({ register: metrics.registry });
  const admin = await startAdminServer({ host: '127.0.0.1', port: 0 }, () => metrics.all().metrics());
  outputs.metrics = await (await fetch(`http://127.0.0.1:${String((admin.address() as AddressInfo).port)}/metrics`)).text();
  admin.close().closeAllConnections();
  await service.close();
  await proxy?.cut();
  outputs.traces = collector.text();
  await collector.close();
});

describe('an API key anywhere in a request, or the URL of the database', () => {
  it('is tested with every error', () => {
    expect([...statuses].sort((a, b) => a - b)).toEqual(expect.arrayContaining(ALL_STATUSES));
  });

  it.each(['log', 'responses', 'metrics', 'traces'] as const)('is not in the %s', (where) => {
    const text = outputs[where];
    expect(text).not.toContain(`:${new URL(databaseUrl).password}@`);
    for (const key of keys) {
      const secret = key.slice(prefixOf(key).length);
      // Parts of a key and its hash must not appear either.
      for (const part of [secret, secret.slice(0, 20), secret.slice(-20)]) expect(text).not.toContain(part);
      const hash = createHash('sha256').update(key);
      const digest = hash.digest();
      for (const encoding of ['hex', 'base64', 'base64url'] as const) expect(text).not.toContain(digest.toString(encoding));
    }
  });

  it('is not in the response to an internal error, and neither is its cause', () => {
    expect(outputs.log).toContain('no room for');
    expect(outputs.responses).not.toContain('no room for');
  });

  it('is redacted to its prefix in outputs that are not empty', () => {
    expect(outputs.log).toContain(`${prefixOf(keys[0] as ApiKeySecret)}…`);
    expect(outputs.log).toContain(`no room for ${prefixOf(keys[0] as ApiKeySecret)}…`);
    expect(outputs.responses).toContain('is not a known query parameter');
    expect(outputs.metrics).toContain('http_request_duration_seconds_count');
    expect(outputs.traces).toContain('insert one pets.pets');
  });
});
