import type { AuthenticateApiKey } from '@animal-store/access-application';
import { INVALID_API_KEY, MISSING_API_KEY } from '@animal-store/access-domain';
import type { Database } from '@animal-store/database';
import { Public, RateLimit, RequireScopes } from '@animal-store/http-kit';
import { DomainError, type Principal } from '@animal-store/kernel';
import { describe, expect, it, jest } from '@jest/globals';
import type { FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { guardContext } from '../http/testing/guard-context.js';
import { addressBucket } from '../rate-limit/address-group.js';
import { MemoryCounter } from '../rate-limit/counter.js';
import { RateLimits } from '../rate-limit/rate-limits.js';
import { AuthenticationGuard, Operational, RateLimitGuard, ScopesGuard } from './guards.js';

class Pets {
  @Public()
  open() {
    return undefined;
  }

  closed() {
    return undefined;
  }
}

const principal = { clientId: 1n, keyId: 2n } as Principal;
const createLimits = (rateLimit: number) =>
  new RateLimits({ rateLimit, redisUrl: undefined, environment: 'test' }, pino({ level: 'silent' }));
const defaultLimits = createLimits(1);
const guardWith = (execute: (key: string) => Principal | Promise<Principal>, { limits = defaultLimits, hasOpened = true } = {}) =>
  new AuthenticationGuard({ execute } as AuthenticateApiKey, limits, { hasOpened } as Database);
const guardWithoutClients = guardWith(() => {
  throw new DomainError(INVALID_API_KEY);
});
const withKey = (key: string) => ({ ip: '192.0.2.1', headers: { authorization: `Bearer ${key}` } });

it('identifies the client of a cached key synchronously', () => {
  const { context, request } = guardContext(Pets, 'closed', withKey('known'));
  expect(guardWith(() => principal).canActivate(context)).toBe(true);
  expect(request).toMatchObject({ principal, operation: 'closed' });
});

it('waits for a key that is not cached', async () => {
  const { context, request } = guardContext(Pets, 'closed', withKey('new'));
  await expect(guardWith(() => Promise.resolve(principal)).canActivate(context)).resolves.toBe(true);
  expect(request.principal).toBe(principal);
});

it.each(['', 'Bearer', 'Bearer ', 'Bearerkey', 'Basic a2V5', 'x Bearer key'])('finds no key in the header %j', async (authorization) => {
  const { context } = guardContext(Pets, 'closed', { ip: '192.0.2.9', headers: { authorization } });
  await expect((async () => guardWith(() => principal).canActivate(context))()).rejects.toMatchObject({ code: MISSING_API_KEY.code });
});

it('requires no key on a public route', () => {
  const { context, request } = guardContext(Pets, 'open');
  expect(guardWithoutClients.canActivate(context)).toBe(true);
  expect(guardWith(() => principal, { hasOpened: false }).canActivate(context)).toBe(true);
  expect(request).not.toHaveProperty('principal');
  expect(request).toMatchObject({ operation: 'open' });
});

it('rejects all other requests before the database is connected', () => {
  const { context, request, headers } = guardContext(Pets, 'closed', withKey('known'));
  expect(() => guardWith(() => principal, { hasOpened: false }).canActivate(context)).toThrow(
    expect.objectContaining({ code: 'service_unavailable' }),
  );
  expect(request).toMatchObject({ operation: 'closed' });
  expect(headers).toEqual({});
});

it.each([
  ['a missing key', {}, MISSING_API_KEY.code, 'Bearer realm="animal-store"'],
  ['an unknown key', { authorization: 'Bearer wrong' }, INVALID_API_KEY.code, 'Bearer realm="animal-store", error="invalid_token"'],
])('rejects %s', async (_what, requestHeaders, code, challenge) => {
  const { context, headers } = guardContext(Pets, 'closed', { ip: '192.0.2.1', headers: requestHeaders });
  await expect((async () => guardWithoutClients.canActivate(context))()).rejects.toMatchObject({ code });
  expect(headers['www-authenticate']).toBe(challenge);
});

it('rethrows other errors, without a challenge', async () => {
  const { context, headers } = guardContext(Pets, 'closed', withKey('any'));
  const down = new Error('down');
  await expect(guardWith(() => Promise.reject(down)).canActivate(context)).rejects.toBe(down);
  expect(headers).toEqual({});
});

it('rethrows errors other than a failed authentication synchronously, and does not count them', async () => {
  const limits = createLimits(1);
  const countFailure = jest.spyOn(limits, 'countFailure');
  for (const error of [new Error('down'), new DomainError({ code: 'service_unavailable', kind: 'unavailable', message: 'Down.' })]) {
    const guard = guardWith(
      () => {
        throw error;
      },
      { limits },
    );
    const { context, headers } = guardContext(Pets, 'closed', withKey('any'));
    expect(() => guard.canActivate(context)).toThrow(error);
    expect(headers).toEqual({});
  }
  expect(countFailure).not.toHaveBeenCalled();
});

describe('failed authentications', () => {
  const fail = async (limits: RateLimits, { ip = '192.0.2.1', authorization = 'Bearer wrong' } = {}) => {
    const guard = guardWith(() => Promise.reject(new DomainError(INVALID_API_KEY)), { limits });
    const { context, headers } = guardContext(Pets, 'closed', { ip, headers: { authorization } });
    const { code } = (await (async () => guard.canActivate(context))().catch((error: unknown) => error as DomainError)) as DomainError;
    return { code, ...headers };
  };
  const unknown = { code: 'invalid_api_key', 'www-authenticate': 'Bearer realm="animal-store", error="invalid_token"' };

  it('are rejected without a challenge after 600 of an address', async () => {
    const limits = createLimits(1);
    for (let i = 0; i < 600; i++) expect(await fail(limits)).toEqual(unknown);
    expect(await fail(limits)).toEqual({ code: 'rate_limited', 'retry-after': expect.stringMatching(/^\d+$/) });
    expect(await fail(limits, { ip: '192.0.2.2' })).toEqual(unknown);
    const { context } = guardContext(Pets, 'closed', withKey('known'));
    expect(guardWith(() => principal, { limits }).canActivate(context)).toBe(true);
  });

  it('are not limited if the rate limit is disabled', async () => {
    expect(await fail(createLimits(0))).toEqual(unknown);
  });
});

class Shops {
  @RequireScopes('pets:read', 'pets:write')
  scoped() {
    return undefined;
  }

  undeclared() {
    return undefined;
  }
}

@Operational()
class Probes {
  live() {
    return undefined;
  }
}

it('requires no key for what is not an operation, and gives it no name', () => {
  const { context, request } = guardContext(Probes, 'live');
  expect([guardWithoutClients.canActivate(context), scopesGuard.canActivate(context)]).toEqual([true, true]);
  expect(request).not.toHaveProperty('operation');
});

@RequireScopes('orders:read')
class Orders {
  inherited() {
    return undefined;
  }

  @RequireScopes('orders:write')
  overridden() {
    return undefined;
  }

  @Public()
  open() {
    return undefined;
  }
}

@Public()
class Catalogue {
  @RequireScopes('orders:read')
  closed() {
    return undefined;
  }
}

it('prefers the scopes of a handler to @Public of its class', () => {
  expect(() => scopesGuard.canActivate(guardContext(Catalogue, 'closed').context)).toThrow();
});

/** As a second version of a controller may. */
@RequireScopes('orders.v2:read')
class OrdersV2 extends Orders {}

const contextOf = (handler: string, ...scopes: string[]) => guardContext(Shops, handler, { principal: { scopes } as unknown as Principal });
const scopesGuard = new ScopesGuard();

it('accepts a client with every scope of the route', () => {
  expect(scopesGuard.canActivate(contextOf('scoped', 'pets:write', 'pets:read').context)).toBe(true);
});

it.each([
  ['with one scope of two', 'pets:read pets:write', contextOf('scoped', 'pets:read')],
  ['without a client', 'pets:read pets:write', guardContext(Shops, 'scoped')],
  ['to a route that declares nothing', '', contextOf('undeclared', 'pets:read')],
])('rejects a request %s', (_what, required, { context, headers }) => {
  expect(() => scopesGuard.canActivate(context)).toThrow(expect.objectContaining({ code: 'insufficient_scope' }));
  expect(headers['www-authenticate']).toBe(`Bearer realm="animal-store", error="insufficient_scope", scope="${required}"`);
});

it('prefers the scopes of a handler to those of its class', () => {
  const accepts = (handler: string, ...scopes: string[]) => {
    const principal = { scopes } as unknown as Principal;
    return scopesGuard.canActivate(guardContext(Orders, handler, { principal }).context);
  };
  // Twice, because the scopes of a handler are cached.
  for (let i = 0; i < 2; i++) {
    expect([accepts('inherited', 'orders:read'), accepts('overridden', 'orders:write'), accepts('open')]).toEqual([true, true, true]);
    expect(() => accepts('inherited', 'orders:write')).toThrow();
    expect(() => accepts('overridden', 'orders:read')).toThrow();
  }
});

it('reads the scopes of the class that inherits a handler', () => {
  const accepts = (controller: typeof Orders, scope: string) =>
    scopesGuard.canActivate(guardContext(controller, 'inherited', { principal: { scopes: [scope] } as unknown as Principal }).context);
  expect([accepts(Orders, 'orders:read'), accepts(OrdersV2, 'orders.v2:read')]).toEqual([true, true]);
  expect(() => accepts(OrdersV2, 'orders:read')).toThrow();
});

describe('rate limits', () => {
  class Pets {
    list() {
      return undefined;
    }
  }

  const guardWith = (rateLimit: number) =>
    new RateLimitGuard(new RateLimits({ rateLimit, redisUrl: undefined, environment: 'test' }, pino({ level: 'silent' })));
  const createRequest = (principal: Partial<Principal> = {}, controller = Pets) =>
    guardContext(controller, 'list', { principal: { clientId: 1n, ...principal } as Principal });

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
  });
});
