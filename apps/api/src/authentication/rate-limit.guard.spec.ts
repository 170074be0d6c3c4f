import { RateLimit } from '@animal-store/http-kit';
import type { Principal } from '@animal-store/kernel';
import { describe, expect, it, jest } from '@jest/globals';
import type { FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { guardContext } from '../http/testing/guard-context.js';
import { MemoryCounter } from '../rate-limit/counter.js';
import { addressBucket } from '../rate-limit/address-group.js';
import { RateLimits } from '../rate-limit/rate-limits.js';
import { Operational, RateLimitGuard } from './guards.js';

class Pets {
  list() {
    return undefined;
  }
}

const guardWith = (rateLimit: number) =>
  new RateLimitGuard(new RateLimits({ rateLimit, redisUrl: undefined, environment: 'test' }, pino({ level: 'silent' })));
const createRequest = (principal: Partial<Principal> = {}, controller = Pets) =>
  guardContext(controller, 'list', { principal: { clientId: 1n, ...principal } as Principal });

it('counts the requests of a client, sets RateLimit headers, and rejects requests above the limit', () => {
  const guard = guardWith(2);
  for (const remaining of [1, 0]) {
    const { context, headers } = createRequest();
    expect(guard.canActivate(context)).toBe(true);
    const ratelimit = expect.stringMatching(new RegExp(`^"default";r=${remaining};t=(?:60|5\\d)$`));
    expect(headers).toEqual({ 'ratelimit-policy': '"default";q=2;w=60', ratelimit });
  }
  const { context, headers } = createRequest();
  expect(() => guard.canActivate(context)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  expect(headers).toMatchObject({ ratelimit: expect.stringContaining('r=0;'), 'retry-after': expect.stringMatching(/^(?:60|5\d)$/) });
});

it('each client has a window of its own, which ends after a minute', () => {
  const now = jest.spyOn(performance, 'now');
  const guard = guardWith(9);
  const remaining = (ms: number, clientId: bigint) => {
    now.mockReturnValue(ms);
    const { context, headers } = createRequest({ clientId });
    void guard.canActivate(context);
    return headers['ratelimit'];
  };
  expect([remaining(0, 1n), remaining(20_000, 2n), remaining(59_999, 1n)]).toEqual([
    ...['"default";r=8;t=60', '"default";r=8;t=60', '"default";r=7;t=1'],
  ]);
  expect([remaining(60_000, 1n), remaining(60_000, 2n), remaining(80_000, 2n)]).toEqual([
    ...['"default";r=8;t=60', '"default";r=7;t=20', '"default";r=8;t=60'],
  ]);
  now.mockRestore();
});

it('windows that have ended are removed, so that memory depends only on the clients of the last minutes', () => {
  const now = jest.spyOn(performance, 'now').mockReturnValue(0);
  const counter = new MemoryCounter();
  for (let clientId = 1n; clientId <= 100n; clientId++) counter.add(clientId);
  const { windows } = counter as unknown as { readonly windows: ReadonlyMap<bigint, object> };
  expect(windows.size).toBe(100);
  now.mockReturnValue(60_000);
  counter.add(1n);
  expect([...windows.keys()]).toEqual([1n]);
  now.mockRestore();
});

it.each([0, 20])('prefers the limit of the client to that of the service, %i', (general) => {
  const guard = guardWith(general);
  const headersFor = (rateLimit: number) => {
    const { context, headers } = createRequest({ rateLimit });
    void guard.canActivate(context);
    return headers['ratelimit']?.replace(/;t=\d+$/, '');
  };
  // Earlier requests count towards the new limit.
  expect([10, 10, 5, 0, 100].map(headersFor)).toEqual(['"default";r=9', '"default";r=8', '"default";r=2', undefined, '"default";r=96']);
});

@Operational()
class Probes extends Pets {}

it.each([
  ['no limit is set', 0, Pets],
  ['the route is no operation', 1, Probes],
])('sets no headers if %s', (_what, limit, controller) => {
  const { context, headers } = createRequest({}, controller);
  expect(guardWith(limit).canActivate(context)).toBe(true);
  expect(headers).toEqual({});
});

it('counts the requests of an address to public routes, apart from those of clients', () => {
  const guard = guardWith(1);
  const send = (request: Partial<FastifyRequest>) => () => guard.canActivate(guardContext(Pets, 'list', request).context);
  expect(send({ principal: { clientId: BigInt(addressBucket('192.0.2.1')) } as Principal })()).toBe(true);
  for (const ip of ['192.0.2.1', '192.0.2.2']) {
    expect(send({ ip })()).toBe(true);
    expect(send({ ip })).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  }
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
    const guard = guardWith(100);
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

  it('stays if the client has its own limit, which replaces the default', async () => {
    const guard = guardWith(100);
    expect(await send(guard, Orders, 'list', { rateLimit: 7 })).toMatchObject({ policy: '"default";q=7;w=60, "orders";q=3;w=60' });
    expect(await send(guard, Orders, 'list', { rateLimit: 0 })).toEqual({ policy: '"orders";q=3;w=60', remaining: '"orders";r=1' });
  });

  it('is off if the rate limit is disabled', async () => {
    expect(await send(guardWith(0), Orders, 'list')).toEqual({});
  });

  it('that blocks determines Retry-After; if both do, the later end', async () => {
    const guard = guardWith(2);
    const now = jest.spyOn(performance, 'now').mockReturnValue(1_000);
    await send(guard, Pets, 'list');
    await send(guard, Pets, 'list');
    // The window of the policy begins 20 s later.
    now.mockReturnValue(21_000);
    for (const retryAfter of ['40', '40', '40', '60'])
      expect(await send(guard, Orders, 'list')).toMatchObject({ error: 'rate_limited', retryAfter });
    now.mockRestore();
  });

  it('with the name of one with a different limit is an error', async () => {
    class More {
      @RateLimit({ name: 'orders', requestsPerMinute: 4 })
      list() {
        return undefined;
      }
    }
    const guard = guardWith(9);
    await send(guard, Orders, 'list');
    expect((await send(guard, More, 'list')).error).toBe('Error: Two rate limits have the name orders.');
  });
});
