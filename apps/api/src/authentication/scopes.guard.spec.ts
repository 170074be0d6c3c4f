import { Public, RequireScopes } from '@animal-store/http-kit';
import type { Principal } from '@animal-store/kernel';
import { expect, it } from '@jest/globals';
import { guardContext } from '../http/testing/guard-context.js';
import { ScopesGuard } from './scopes.guard.js';

class Pets {
  @Public()
  open() {
    return undefined;
  }

  @RequireScopes('pets:read', 'pets:write')
  scoped() {
    return undefined;
  }

  undeclared() {
    return undefined;
  }
}

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

/** As a second version of a controller may. */
@RequireScopes('orders.v2:read')
class OrdersV2 extends Orders {}

const contextOf = (handler: string, ...scopes: string[]) => guardContext(Pets, handler, { principal: { scopes } as unknown as Principal });
const guard = new ScopesGuard();

it('accepts a client with every scope of the route', () => {
  expect(guard.canActivate(contextOf('scoped', 'pets:write', 'pets:read').context)).toBe(true);
});

it('accepts all requests to a public route', () => {
  expect(guard.canActivate(guardContext(Pets, 'open').context)).toBe(true);
});

it.each([
  ['with one scope of two', 'pets:read pets:write', contextOf('scoped', 'pets:read')],
  ['without a client', 'pets:read pets:write', guardContext(Pets, 'scoped')],
  ['to a route that declares nothing', '', contextOf('undeclared', 'pets:read')],
])('rejects a request %s', (_what, required, { context, headers }) => {
  expect(() => guard.canActivate(context)).toThrow(expect.objectContaining({ code: 'insufficient_scope' }));
  expect(headers['www-authenticate']).toBe(`Bearer realm="animal-store", error="insufficient_scope", scope="${required}"`);
});

it('prefers the scopes of a handler to those of its class', () => {
  const accepts = (handler: string, ...scopes: string[]) => {
    const principal = { scopes } as unknown as Principal;
    return guard.canActivate(guardContext(Orders, handler, { principal }).context);
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
    guard.canActivate(guardContext(controller, 'inherited', { principal: { scopes: [scope] } as unknown as Principal }).context);
  expect([accepts(Orders, 'orders:read'), accepts(OrdersV2, 'orders.v2:read')]).toEqual([true, true]);
  expect(() => accepts(OrdersV2, 'orders:read')).toThrow();
});
