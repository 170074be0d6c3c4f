import { type Principal, Public, RequireScopes } from '@animal-store/http-contract';
import { expect, it } from '@jest/globals';
import { guardContext } from '../testing/guard-context.js';
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

const contextOf = (handler: string, ...scopes: string[]) => guardContext(Pets, handler, { principal: { scopes } as unknown as Principal });
const guard = new ScopesGuard();

it('accepts a client with every scope of the route', () => {
  expect(guard.canActivate(contextOf('scoped', 'pets:write', 'pets:read').context)).toBe(true);
});

it('accepts all requests to a public route', () => {
  expect(guard.canActivate(guardContext(Pets, 'open').context)).toBe(true);
});

it.each([
  ['with one scope of two', 'scoped', ['pets:read'], 'pets:read pets:write'],
  ['without a client', 'scoped', [], 'pets:read pets:write'],
  ['to a route that declares nothing', 'undeclared', ['pets:read'], ''],
])('rejects a request %s', (_what, handler, scopes, required) => {
  const { context, headers } = contextOf(handler, ...scopes);
  expect(() => guard.canActivate(context)).toThrow(expect.objectContaining({ code: 'insufficient_scope' }));
  expect(headers['www-authenticate']).toBe(`Bearer realm="animal-store", error="insufficient_scope", scope="${required}"`);
});
