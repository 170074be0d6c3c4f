import { generateApiKeySecret, type KeyEnvironment } from '@animal-store/access-domain';
import { connectAccessUseCases } from '@animal-store/access-infrastructure';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../testing/test-app.js';

const CLOSED_PORT = 'redis://127.0.0.1:1';
const started: TestApp[] = [];
let databaseUrl = '';

async function start(env: Record<string, string>): Promise<TestApp> {
  const service = await startTestApp({ env, databaseUrl: (url) => (databaseUrl = url) });
  started.push(service);
  return service;
}

afterEach(async () => {
  for (const service of started.splice(0)) await service.close();
});

async function keyOf(clientName: string, ...scopes: string[]): Promise<string> {
  const access = await connectAccessUseCases(databaseUrl);
  const { secret } = await access.createApiKey.execute({ clientName, environment: 'test', scopes });
  await access.close();
  return secret;
}

async function get({ url }: TestApp, key: string | undefined, { path = '/v1/pets', headers = {} } = {}) {
  const response = await fetch(url + path, { headers: { ...(key !== undefined && { Authorization: `Bearer ${key}` }), ...headers } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const limits = ({ headers }: { headers: Headers }) => [
  headers.get('ratelimit-policy'),
  headers.get('ratelimit'),
  headers.get('retry-after'),
];

describe('the rate limit of a client', () => {
  it.each([
    ['without Redis', {}],
    ['while Redis is unavailable', { REDIS_URL: CLOSED_PORT }],
  ])('is sent on every response and enforced, %s', async (_how, env) => {
    const service = await start({ RATE_LIMIT: '4', ...env });
    const [reader, unauthorised] = [await keyOf('acme', 'pets:read'), await keyOf('acme', 'nothing:much')];
    const policy = '"default";q=4;w=60';
    const t = '(?:60|5[0-9])';
    const rateLimit = (remaining: number): unknown[] => [
      policy,
      expect.stringMatching(new RegExp(`^"default";r=${String(remaining)};t=${t}$`)),
      null,
    ];

    const ok = await get(service, reader);
    expect([ok.status, ...limits(ok)]).toEqual([200, ...rateLimit(3)]);
    const notFound = await get(service, reader, { path: '/v1/pets/0' });
    expect([notFound.status, ...limits(notFound)]).toEqual([404, ...rateLimit(2)]);
    // With another key of the same client.
    const forbidden = await get(service, unauthorised);
    expect([forbidden.status, ...limits(forbidden)]).toEqual([403, ...rateLimit(1)]);
    const invalid = await get(service, reader, { path: '/v1/pets?limit=0' });
    expect([invalid.status, ...limits(invalid)]).toEqual([400, ...rateLimit(0)]);
    for (const key of [reader, unauthorised]) {
      const limited = await get(service, key);
      expect(limited.status).toBe(429);
      expect(JSON.parse(limited.text)).toEqual({ code: 'rate_limited', message: expect.any(String), status: 429 });
      const [, rateLimit, retryAfter] = limits(limited);
      expect(retryAfter).toMatch(new RegExp(`^${t}$`));
      expect(rateLimit).toBe(`"default";r=0;t=${retryAfter ?? ''}`);
    }
    expect((await get(service, await keyOf('other', 'pets:read'))).status).toBe(200);
  });

  it('counts creations', async () => {
    const service = await start({ RATE_LIMIT: '2' });
    const headers = { Authorization: `Bearer ${await keyOf('acme', 'pets:write')}`, 'Content-Type': 'application/json' };
    const create = async () => {
      const response = await fetch(`${service.url}/v1/pets`, { method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' });
      await response.arrayBuffer();
      return response.status;
    };
    expect([await create(), await create(), await create()]).toEqual([201, 201, 429]);
  });

  it('is not sent without a client', async () => {
    const service = await start({ RATE_LIMIT: '1' });
    for (const path of ['/health/live', '/openapi.json', '/nothing'])
      expect(limits(await get(service, undefined, { path }))).toEqual([null, null, null]);
    expect(limits(await get(service, undefined))).toEqual([null, null, null]);
  });

  it('is disabled by 0', async () => {
    const service = await start({ RATE_LIMIT: '0' });
    const key = await keyOf('acme', 'pets:read');
    for (let i = 0; i < 3; i++) {
      const response = await get(service, key);
      expect([response.status, ...limits(response)]).toEqual([200, null, null, null]);
    }
  });
});

describe('failed authentications', () => {
  const LIMIT = 600;
  const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });
  const fail = async (service: TestApp, options: { headers?: Record<string, string> } = {}) =>
    (await get(service, 'wrong', options)).status;
  const failRepeatedly = (service: TestApp, options: { headers?: Record<string, string> }) =>
    Promise.all(Array.from({ length: LIMIT }, () => fail(service, options)));

  it('are limited per address, without effect on valid keys', async () => {
    const service = await start({});
    const key = await keyOf('acme', 'pets:read');
    // X-Forwarded-For is ignored without a trusted proxy.
    const statuses = new Set(await failRepeatedly(service, from('192.0.2.1')));
    expect([...statuses]).toEqual([401]);
    const limited = await get(service, 'wrong', from('192.0.2.2'));
    expect([limited.status, JSON.parse(limited.text)]).toMatchObject([429, { code: 'rate_limited' }]);
    expect(limited.headers.get('retry-after')).toMatch(/^(?:60|[1-5]?[0-9])$/);
    expect((await get(service, undefined)).status).toBe(429);
    expect((await get(service, key)).status).toBe(200);
  });

  it('do not reject a new key from that address during a flood of unknown keys', async () => {
    const service = await start({});
    await failRepeatedly(service, {});
    const key = await keyOf('acme', 'pets:read');
    const flood = Array.from({ length: 50 }, () => get(service, generateApiKeySecret('test' as KeyEnvironment)));
    expect((await get(service, key)).status).toBe(200);
    expect([...new Set((await Promise.all(flood)).map(({ status }) => status))]).toEqual([429]);
  });

  it('count for the address that a trusted proxy forwards', async () => {
    const service = await start({ TRUSTED_PROXIES: '127.0.0.0/8,10.0.0.0/8' });
    expect([...new Set(await failRepeatedly(service, from('192.0.2.1')))]).toEqual([401]);
    // Addresses to the left of the last untrusted one come from the client and are ignored.
    expect(await fail(service, from('198.51.100.7, 192.0.2.1, 10.1.2.3'))).toBe(429);
    expect(await fail(service, from('192.0.2.1, 198.51.100.7'))).toBe(401);
  });
});
