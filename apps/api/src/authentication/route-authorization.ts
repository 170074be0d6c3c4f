import { PUBLIC, REQUIRED_SCOPES } from '@animal-store/http-contract';
import { Reflector } from '@nestjs/core';
import { cachedByRoute } from './cached-by-route.js';

/** `public`, or the required scopes. Empty if the route declares nothing; ScopesGuard rejects such routes. */
export type RouteAuthorization = 'public' | readonly string[];

const reflector = new Reflector();

/** Returns what `@Public` or `@RequireScopes` declares. */
export const authorizationOf = cachedByRoute((context): RouteAuthorization => {
  const targets = [context.getHandler(), context.getClass()];
  const isPublic = reflector.getAllAndOverride<boolean | undefined>(PUBLIC, targets);
  return isPublic ? 'public' : (reflector.getAllAndOverride<readonly string[] | undefined>(REQUIRED_SCOPES, targets) ?? []);
});
