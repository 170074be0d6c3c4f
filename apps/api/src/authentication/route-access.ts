import { PUBLIC, REQUIRED_SCOPES } from '@animal-store/http-contract';
import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';

/** `public`, or the required scopes. Empty if the route declares nothing; ScopesGuard refuses such routes. */
export type RouteAccess = 'public' | readonly string[];

const reflector = new Reflector();
const accessByHandler = new WeakMap<object, RouteAccess>();

/** Returns what `@Public` or `@RequireScopes` declares. Cached by handler. */
export function accessOf(context: ExecutionContext): RouteAccess {
  const handler = context.getHandler();
  let access = accessByHandler.get(handler);
  if (access === undefined) {
    const targets = [handler, context.getClass()];
    const isPublic = reflector.getAllAndOverride<boolean | undefined>(PUBLIC, targets);
    access = isPublic ? 'public' : (reflector.getAllAndOverride<readonly string[] | undefined>(REQUIRED_SCOPES, targets) ?? []);
    accessByHandler.set(handler, access);
  }
  return access;
}
