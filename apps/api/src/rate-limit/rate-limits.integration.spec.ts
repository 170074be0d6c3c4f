import { connectAccessUseCases } from '@animal-store/access-infrastructure';
import { defineContext, RateLimit, RequireScopes } from '@animal-store/http-kit';
import { expect, it } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { useTestApp } from '../http/testing/test-app.js';
import { contexts } from '../registered-contexts.js';
import { addressBucket, addressGroup } from './address-group.js';
import { RateLimits } from './rate-limits.js';

@RateLimit({ name: 'limited', requestsPerMinute: 2 })
@Controller({ path: 'limited', version: '1' })
class LimitedController {
  @Get()
  @RequireScopes('pets:read')
  @ApiOperation({ operationId: 'listLimited', description: 'Returns nothing.' })
  list(): string[] {
    return [];
  }
}

@Module({ controllers: [LimitedController] })
class LimitedModule {}

// Another context with a policy, for the app of this file.
const limited = defineContext({ module: LimitedModule, persistence: { schema: 'limited', entities: [], migrations: [] } });
/** No server listens on the port of Redis, so requests are counted in the process. */
const service = useTestApp(['pets:read'], {
  contexts: [...contexts, limited],
  env: { RATE_LIMIT: '4', REDIS_URL: 'redis://127.0.0.1:1', TRUSTED_PROXIES: '127.0.0.0/8,10.0.0.0/8' },
});

const FAILURES = 600;
const SECONDS = '(?:60|[1-5]?[0-9])';

async function keyOf(clientName: string, ...scopes: string[]): Promise<string> {
  const access = await connectAccessUseCases(service.databaseUrl);
  const { secret } = await access.manageApiKeys.create({ clientName, environment: 'test', scopes });
  await access.close();
  return secret;
}

async function get(key: string | undefined, { path = '/v1/pets', headers = {} } = {}) {
  const response = await fetch(service.url + path, {
    headers: { ...(key !== undefined && { Authorization: `Bearer ${key}` }), ...headers },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const limits = ({ headers }: { headers: Headers }) => [
  headers.get('ratelimit-policy'),
  headers.get('ratelimit'),
  headers.get('retry-after'),
];

const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });
const fail = async (options: { headers: Record<string, string> }) => (await get('wrong', options)).status;
/** Counts all failed authentications that an address may have, except `left`. */
async function countFailures(address: string, left: number): Promise<void> {
  for (let i = left; i < FAILURES; i++) await service.app.get(RateLimits).countFailure(address);
}

it('the rate limit of a client is sent on every response and enforced', async () => {
  const [reader, unauthorised] = [await keyOf('acme', 'pets:read'), await keyOf('acme', 'nothing:much')];
  const rateLimit = (remaining: number): unknown[] => [
    '"default";q=4;w=60',
    expect.stringMatching(new RegExp(`^"default";r=${String(remaining)};t=${SECONDS}$`)),
    null,
  ];
  const ok = await get(reader);
  expect([ok.status, ...limits(ok)]).toEqual([200, ...rateLimit(3)]);
  // With another key of the same client.
  const forbidden = await get(unauthorised);
  expect([forbidden.status, ...limits(forbidden)]).toEqual([403, ...rateLimit(2)]);
  const invalid = await get(reader, { path: '/v1/pets?limit=0' });
  expect([invalid.status, ...limits(invalid)]).toEqual([400, ...rateLimit(1)]);
  await get(reader);
  const limited = await get(reader);
  expect([limited.status, JSON.parse(limited.text)]).toMatchObject([429, { code: 'rate_limited', status: 429 }]);
  expect(limits(limited)).toEqual([expect.any(String), expect.stringContaining('r=0'), expect.stringMatching(new RegExp(`^${SECONDS}$`))]);
  expect((await get(await keyOf('other', 'pets:read'))).status).toBe(200);
});

it('a policy of a context is enforced in addition, and documented', async () => {
  const key = await keyOf('limited', 'pets:read');
  const responses = [];
  for (let i = 0; i < 3; i++) responses.push(await get(key, { path: '/v1/limited' }));
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(responses[2]?.headers.get('ratelimit-policy')).toBe('"default";q=4;w=60, "limited";q=2;w=60');
  expect((await get(undefined, { path: '/openapi.json' })).text).toContain('(rate limit `limited`).');
});

it('failed authentications are limited per address, without effect on valid keys', async () => {
  const key = await keyOf('known', 'pets:read');
  const withoutKey = await get(undefined);
  expect([withoutKey.status, ...limits(withoutKey)]).toEqual([401, null, null, null]);
  await countFailures('127.0.0.1', 2);
  expect((await get('wrong')).status).toBe(401);
  const limited = await get('wrong');
  expect([limited.status, JSON.parse(limited.text)]).toMatchObject([429, { code: 'rate_limited' }]);
  expect(limited.headers.get('retry-after')).toMatch(/^(?:60|[1-5]?[0-9])$/);
  expect((await get(undefined)).status).toBe(429);
  expect((await get(key)).status).toBe(200);
});

it('failed authentications count for the address that the proxy forwards', async () => {
  await countFailures('192.0.2.1', 1);
  expect(await fail(from('192.0.2.1'))).toBe(401);
  // Addresses to the left of the last untrusted one come from the client and are ignored.
  expect(await fail(from('198.51.100.7, 192.0.2.1, 10.1.2.3'))).toBe(429);
  expect(await fail(from('192.0.2.1, 198.51.100.7'))).toBe(401);
  // With ports, as Azure's gateways send them. Those of a client differ.
  expect(await fail(from('192.0.2.1:4711'))).toBe(429);
  expect(await fail(from('192.0.2.9:4711'))).toBe(401);
  await countFailures('2001:db8:0:7::1', 1);
  for (const status of [401, 429]) expect(await fail(from('[2001:db8:0:7::2]:443'))).toBe(status);
  expect(await fail(from('[2001:db8:0:8::1]:443'))).toBe(401);
});

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::', '2001:db8:1:2'],
  ['2001:0DB8:0001:0002::9', '2001:db8:1:2'],
  ['2001:db8::7', '2001:db8:0:0'],
  ['2001:db8::3:4:5:6', '2001:db8:0:0'],
  ['2001:db8::2:3:4:5:6', '2001:db8:0:2'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['192.0.2.7:4711', '192.0.2.7'],
  ['[2001:db8:1:2::7]:443', '2001:db8:1:2'],
  ['[::ffff:192.0.2.7]:443', '192.0.2.7'],
  ['"[2001:db8:1:2::7]:443"', '2001:db8:1:2'],
  ['[fe80::1%eth0]:443', 'fe80:0:0:0'],
  ['not an address', 'unknown'],
  ['192.0.2.7:port', 'unknown'],
  ['192.0.2.7.8', 'unknown'],
])('%s counts as %s', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});

it('addresses share 16,384 buckets, but few addresses share one', () => {
  const buckets = Array.from({ length: 200 }, (_, i) => addressBucket(`192.0.2.${String(i)}`));
  expect(new Set(buckets).size).toBeGreaterThan(195);
  for (const bucket of buckets) expect(Number(bucket)).toBeLessThan(16_384);
  expect(addressBucket('2001:db8::1')).toBe(addressBucket('2001:db8::2'));
});
