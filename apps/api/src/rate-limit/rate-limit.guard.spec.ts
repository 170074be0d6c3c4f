import { RateLimit } from '@animal-store/http-kit';
import type { Principal } from '@animal-store/kernel';
import { describe, expect, it, jest } from '@jest/globals';
import type { ModulesContainer } from '@nestjs/core';
import { pino } from 'pino';
import { guardContext } from '../http/testing/guard-context.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { RateLimits } from './rate-limits.js';

class Pets {
  list() {
    return undefined;
  }
}

/** Returns the modules of an app with these controllers. */
const modulesWith = (...controllers: (new () => object)[]) =>
  new Map([['app', { controllers: new Map(controllers.map((metatype) => [metatype, { metatype }])) }]]) as unknown as ModulesContainer;
const guardWith = async (rateLimit: number, ...controllers: (new () => object)[]) =>
  new RateLimitGuard(
    new RateLimits({ rateLimit, redisUrl: undefined, environment: 'test' }, pino({ level: 'silent' })),
    modulesWith(...controllers),
  );
const createRequest = (rateLimit?: number) => guardContext(Pets, 'list', { principal: { clientId: 1n, rateLimit } as Principal });

it('counts the requests of a client, sets RateLimit headers, and rejects requests above the limit', async () => {
  const guard = await guardWith(20);
  await guard.canActivate(createRequest().context);
  const second = createRequest();
  expect(await guard.canActivate(second.context)).toBe(true);
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
    await (async () => guard.canActivate(context))().catch(() => undefined);
    return `${headers['ratelimit-policy'] ?? ''} ${/r=\d+/.exec(headers['ratelimit'] ?? '')?.[0] ?? ''}`;
  };
  expect([await headersFor(10), await headersFor(10)]).toEqual(['"default";q=10;w=60 r=9', '"default";q=10;w=60 r=8']);
  // Earlier requests count towards the new limit.
  expect(await headersFor(5)).toBe('"default";q=5;w=60 r=2');
  expect(await headersFor(0)).toBe(' ');
  expect(await headersFor(100)).toBe('"default";q=100;w=60 r=96');
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

describe('a policy', () => {
  @RateLimit({ name: 'orders', requestsPerMinute: 3 })
  class Orders {
    list() {
      return undefined;
    }

    get() {
      return undefined;
    }

    @RateLimit({ name: 'order-exports', requestsPerMinute: 30 })
    export() {
      return undefined;
    }
  }

  /** Sends a request of a client. Returns its error and headers. */
  async function send(guard: RateLimitGuard, controller: new () => object, handler: string, principal: Partial<Principal> = {}) {
    const { context, headers } = guardContext(controller, handler, { principal: { clientId: 1n, ...principal } as Principal });
    const error = await Promise.resolve()
      .then(() => guard.canActivate(context))
      .then((isAdmitted) => {
        expect(isAdmitted).toBe(true);
        return undefined;
      })
      .catch((thrown: unknown) => (thrown as { code?: string }).code ?? String(thrown));
    const { 'ratelimit-policy': policy, ratelimit, 'retry-after': retryAfter } = headers;
    return { error, policy, remaining: ratelimit?.replaceAll(/;t=\d+/g, ''), retryAfter };
  }

  it('is counted in addition to the default, over all routes that have it', async () => {
    const guard = await guardWith(100, Pets, Orders);
    const policy = '"default";q=100;w=60, "orders";q=3;w=60';
    expect(await send(guard, Orders, 'list')).toEqual({ policy, remaining: '"default";r=99, "orders";r=2' });
    expect(await send(guard, Orders, 'get')).toEqual({ policy, remaining: '"default";r=98, "orders";r=1' });
    expect(await send(guard, Pets, 'list')).toEqual({ policy: '"default";q=100;w=60', remaining: '"default";r=97' });
    expect(await send(guard, Orders, 'export')).toEqual({
      policy: '"default";q=100;w=60, "order-exports";q=30;w=60',
      remaining: '"default";r=96, "order-exports";r=29',
    });
    await send(guard, Orders, 'list');
    const limited = { error: 'rate_limited', policy, remaining: '"default";r=94, "orders";r=0', retryAfter: expect.any(String) };
    expect(await send(guard, Orders, 'list')).toEqual(limited);
    expect((await send(guard, Pets, 'list')).error).toBeUndefined();
    expect((await send(guard, Orders, 'list', { clientId: 2n })).error).toBeUndefined();
  });

  it('rejects a request that the default rejects', async () => {
    const guard = await guardWith(1, Orders);
    await send(guard, Orders, 'list');
    expect(await send(guard, Orders, 'list')).toMatchObject({ error: 'rate_limited', remaining: '"default";r=0, "orders";r=1' });
  });

  it('stays if the client has its own limit, which replaces the default', async () => {
    const guard = await guardWith(100, Orders);
    expect(await send(guard, Orders, 'list', { rateLimit: 7 })).toMatchObject({ policy: '"default";q=7;w=60, "orders";q=3;w=60' });
    expect(await send(guard, Orders, 'list', { rateLimit: 0 })).toEqual({ policy: '"orders";q=3;w=60', remaining: '"orders";r=1' });
  });

  it('is off if the rate limit is disabled', async () => {
    expect(await send(await guardWith(0, Orders), Orders, 'list')).toEqual({});
  });

  it('that blocks determines Retry-After; if both do, the later end', async () => {
    const guard = await guardWith(2, Orders);
    const now = jest.spyOn(performance, 'now').mockReturnValue(1_000);
    await send(guard, Pets, 'list');
    await send(guard, Pets, 'list');
    // The window of the policy begins 20 s later.
    now.mockReturnValue(21_000);
    for (let i = 0; i < 3; i++) expect(await send(guard, Orders, 'list')).toMatchObject({ error: 'rate_limited', retryAfter: '40' });
    expect(await send(guard, Orders, 'list')).toMatchObject({ error: 'rate_limited', retryAfter: '60' });
    now.mockRestore();
  });

  it('with a name that another one has, with a different limit, or with an invalid name, fails at the start', async () => {
    class More {
      @RateLimit({ name: 'orders', requestsPerMinute: 4 })
      list() {
        return undefined;
      }
    }
    await expect(guardWith(0, Orders, More)).rejects.toThrow('The rate limit "orders" is declared with 3 and with 4 requests per minute.');
    for (const name of ['default', 'a b', '"', '']) {
      @RateLimit({ name, requestsPerMinute: 1 })
      class Misnamed {
        list() {
          return undefined;
        }
      }
      await expect(guardWith(9, Misnamed)).rejects.toThrow(`The rate limit "${name}" must have a name of`);
    }
  });
});
