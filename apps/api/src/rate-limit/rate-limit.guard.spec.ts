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
const aRequest = () => guardContext(Pets, 'list', { principal: { clientId: 1n } as Principal });

it('counts, announces and then refuses the requests of a client, once it is known without a promise', async () => {
  const guard = await guardWith(20);
  await guard.canActivate(aRequest().context);
  const second = aRequest();
  expect(guard.canActivate(second.context)).toBe(true);
  expect(second.headers).toEqual({
    'RateLimit-Policy': '"default";q=20;w=60',
    RateLimit: expect.stringMatching(/^"default";r=18;t=(?:60|59)$/),
  });
  for (let i = 2; i < 20; i++) await guard.canActivate(aRequest().context);
  const { context, headers } = aRequest();
  expect(() => guard.canActivate(context)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  expect(headers).toMatchObject({
    RateLimit: expect.stringContaining('r=0;'),
    'Retry-After': expect.stringMatching(/^(?:60|[1-5]?[0-9])$/),
  });
});

it.each([
  ['no limit is set', 0, { clientId: 1n }],
  ['the route is public', 1, undefined],
])('announces nothing where %s', async (_what, limit, principal) => {
  const { context, headers } = guardContext(Pets, 'list', { principal: principal as Principal | undefined });
  expect((await guardWith(limit)).canActivate(context)).toBe(true);
  expect(headers).toEqual({});
});
