import type { Principal } from '@animal-store/http-contract';
import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { guardContext } from '../testing/guard-context.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { RateLimits } from './rate-limits.js';

class Pets {
  list() {
    return undefined;
  }
}

const guardWith = async (rateLimit: number) =>
  new RateLimitGuard(
    await RateLimits.create({ rateLimit, redisUrl: undefined, workers: 1, environment: 'test' }, pino({ level: 'silent' })),
  );
const createRequest = (rateLimit?: number) => guardContext(Pets, 'list', { principal: { clientId: 1n, rateLimit } as Principal });

it('counts the requests of a client, sets RateLimit headers, and rejects requests above the limit', async () => {
  const guard = await guardWith(20);
  await guard.canActivate(createRequest().context);
  const second = createRequest();
  expect(guard.canActivate(second.context)).toBe(true);
  expect(second.headers).toEqual({
    'ratelimit-policy': '"default";q=20;w=60',
    ratelimit: expect.stringMatching(/^"default";r=18;t=(?:60|5\d)$/),
  });
  for (let i = 2; i < 20; i++) await guard.canActivate(createRequest().context);
  const { context, headers } = createRequest();
  expect(() => guard.canActivate(context)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  expect(headers).toMatchObject({
    ratelimit: expect.stringContaining('r=0;'),
    'retry-after': expect.stringMatching(/^(?:60|[1-5]?[0-9])$/),
  });
});

it.each([0, 20])('prefers the limit of the client to that of the service, %i', async (general) => {
  const guard = await guardWith(general);
  const headersFor = async (rateLimit?: number) => {
    const { context, headers } = createRequest(rateLimit);
    await Promise.resolve(guard.canActivate(context)).catch(() => undefined);
    return `${headers['ratelimit-policy'] ?? ''} ${/r=\d+/.exec(headers['ratelimit'] ?? '')?.[0] ?? ''}`;
  };
  expect([await headersFor(10), await headersFor(10)]).toEqual(['"default";q=10;w=60 r=9', '"default";q=10;w=60 r=8']);
  // Earlier requests count towards the new limit.
  expect(await headersFor(5)).toBe('"default";q=5;w=60 r=2');
  expect(await headersFor(0)).toBe(' ');
  await headersFor(100);
  const second = createRequest(100);
  expect(guard.canActivate(second.context)).toBe(true);
});

it.each([
  ['no limit is set', 0, { clientId: 1n }],
  ['the client has no limit', 20, { clientId: 1n, rateLimit: 0 }],
  ['the route is public', 1, undefined],
])('sets no headers if %s', async (_what, limit, principal) => {
  const { context, headers } = guardContext(Pets, 'list', { principal: principal as Principal | undefined });
  expect((await guardWith(limit)).canActivate(context)).toBe(true);
  expect(headers).toEqual({});
});
