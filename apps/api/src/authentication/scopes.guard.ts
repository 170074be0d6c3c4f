import { INSUFFICIENT_SCOPE } from '@animal-store/access-domain';
import { PUBLIC, REQUIRED_SCOPES } from '@animal-store/http-contract';
import { DomainError } from '@animal-store/kernel';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { VERSION_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';

export const CHALLENGE = 'Bearer realm="animal-store"';

/** `public`, or the required scopes. Empty if the route declares nothing; ScopesGuard rejects such routes. */
type RouteAuthorization = 'public' | readonly string[];

/** Requires the scopes of the route. Rejects all requests to routes that declare neither scopes nor `@Public`. */
@Injectable()
export class ScopesGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const required = authorizationOf(context);
    if (required === 'public') return true;
    const [request, reply] = context.getArgs<[FastifyRequest, FastifyReply]>();
    const granted = request.principal?.scopes ?? [];
    if (required.length > 0 && required.every((scope) => granted.includes(scope))) return true;
    reply.header('www-authenticate', `${CHALLENGE}, error="insufficient_scope", scope="${required.join(' ')}"`);
    throw new DomainError(INSUFFICIENT_SCOPE);
  }
}

const reflector = new Reflector();

/** Returns what `@Public` or `@RequireScopes` declares. */
export const authorizationOf = cachedByRoute((context): RouteAuthorization => {
  const targets = [context.getHandler(), context.getClass()];
  const isPublic = reflector.getAllAndOverride<boolean | undefined>(PUBLIC, targets);
  return isPublic ? 'public' : (reflector.getAllAndOverride<readonly string[] | undefined>(REQUIRED_SCOPES, targets) ?? []);
});

/** Returns the name of the operation in logs and metrics: that of its handler, followed by its version unless that is 1. */
export const operationOf = cachedByRoute((context) => {
  const handler = context.getHandler();
  const version = reflector.getAllAndOverride<unknown>(VERSION_METADATA, [handler, context.getClass()]);
  const versions = [version].flat().filter((each) => typeof each === 'string');
  return versions.length === 0 || versions.includes('1') ? handler.name : `${handler.name}_v${versions.join('_')}`;
});

/** Returns a function that caches the results of `read` by controller and handler: controllers of several versions may inherit a handler. */
function cachedByRoute<Value extends object | string>(read: (context: ExecutionContext) => Value): (context: ExecutionContext) => Value {
  const values = new WeakMap<object, Map<object, Value>>();
  return (context) => {
    const controller = context.getClass();
    const handler = context.getHandler();
    let value = values.get(controller)?.get(handler);
    if (value === undefined) {
      value = read(context);
      const ofController = values.get(controller) ?? new Map<object, Value>();
      values.set(controller, ofController.set(handler, value));
    }
    return value;
  };
}
