import { PUBLIC, REQUIRED_SCOPES } from '@animal-store/http-contract';
import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';

/** `public`, or the required scopes. Empty if the route declares nothing; ScopesGuard refuses such routes. */
export type RouteAuthorization = 'public' | readonly string[];

const reflector = new Reflector();
const authorizationByHandler = new WeakMap<object, RouteAuthorization>();

/** Returns what `@Public` or `@RequireScopes` declares. Cached by handler. */
export function authorizationOf(context: ExecutionContext): RouteAuthorization {
  const handler = context.getHandler();
  let authorization = authorizationByHandler.get(handler);
  if (authorization === undefined) {
    const targets = [handler, context.getClass()];
    const isPublic = reflector.getAllAndOverride<boolean | undefined>(PUBLIC, targets);
    authorization = isPublic ? 'public' : (reflector.getAllAndOverride<readonly string[] | undefined>(REQUIRED_SCOPES, targets) ?? []);
    authorizationByHandler.set(handler, authorization);
  }
  return authorization;
}
