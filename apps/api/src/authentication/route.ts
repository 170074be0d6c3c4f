import { PUBLIC, REQUIRED_SCOPES } from '@animal-store/http-kit';
import type { ExecutionContext } from '@nestjs/common';
import { VERSION_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';

export const CHALLENGE = 'Bearer realm="animal-store"';

interface Route {
  /** `public`, or the required scopes. Empty if the route declares nothing; ScopesGuard rejects such routes. */
  readonly authorization: 'public' | readonly string[];
  /** The name in logs and metrics: that of the handler, followed by its version unless that is 1. */
  readonly operation: string;
}

const reflector = new Reflector();

/** By controller and handler: controllers of several versions may inherit a handler. */
const routes = new WeakMap<object, Map<object, Route>>();

/** Returns what the decorators of the route declare. */
export function routeOf(context: ExecutionContext): Route {
  const controller = context.getClass();
  const handler = context.getHandler();
  const known = routes.get(controller)?.get(handler);
  if (known) return known;
  const targets = [handler, controller];
  const isPublic = reflector.getAllAndOverride<boolean | undefined>(PUBLIC, targets);
  const scopes = reflector.getAllAndOverride<readonly string[] | undefined>(REQUIRED_SCOPES, targets) ?? [];
  const version = reflector.getAllAndOverride<unknown>(VERSION_METADATA, targets);
  const versions = [version].flat().filter((each) => typeof each === 'string');
  const route: Route = {
    authorization: isPublic ? 'public' : scopes,
    operation: versions.length === 0 || versions.includes('1') ? handler.name : `${handler.name}_v${versions.join('_')}`,
  };
  routes.set(controller, (routes.get(controller) ?? new Map<object, Route>()).set(handler, route));
  return route;
}
