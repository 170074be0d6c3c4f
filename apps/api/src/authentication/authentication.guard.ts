import { AuthenticateApiKey } from '@animal-store/access-application';
import { INSUFFICIENT_SCOPE, INVALID_API_KEY, MISSING_API_KEY } from '@animal-store/access-domain';
import { Database } from '@animal-store/database';
import { PUBLIC, REQUIRED_SCOPES } from '@animal-store/http-kit';
import { DomainError, type Principal } from '@animal-store/kernel';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { VERSION_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import type { Count } from '../rate-limit/counter.js';
import { rateLimitedError, RateLimits } from '../rate-limit/rate-limits.js';

const CHALLENGE = 'Bearer realm="animal-store"';
// RFC 9110, section 11.1: the scheme is case-insensitive.
const BEARER = /^bearer +(\S.*)$/i;

/** Identifies the client by its API key, which all routes require except public ones. */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  constructor(
    private readonly authenticate: AuthenticateApiKey,
    private readonly rateLimits: RateLimits,
    private readonly database: Database,
  ) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    // Unlike switchToHttp(), this creates no closures.
    const [request, reply] = context.getArgs<[FastifyRequest, FastifyReply]>();
    const { authorization, operation } = routeOf(context);
    if (authorization === 'public') return true;
    // For logs and metrics: no earlier hook knows the handler.
    request.operation = operation;
    if (!this.database.hasOpened) throw new DomainError(SERVICE_UNAVAILABLE);
    const identify = (principal: Principal): true => {
      request.principal = principal;
      return true;
    };
    const reject = (error: unknown) => this.reject(error, request, reply);
    const key = BEARER.exec(request.headers.authorization ?? '')?.[1];
    if (key === undefined) return reject(new DomainError(MISSING_API_KEY));
    try {
      // For a cached key, the result is not a promise, which saves Nest an await.
      const principal = this.authenticate.execute(key);
      return principal instanceof Promise ? principal.then(identify, reject) : identify(principal);
    } catch (error) {
      return reject(error);
    }
  }

  /** Throws the error, and counts it for the address if the authentication failed. Clients with a valid key are not limited by address. */
  private reject(error: unknown, request: FastifyRequest, reply: FastifyReply): never | Promise<never> {
    if (!(error instanceof DomainError) || error.kind !== 'unauthenticated') throw error;
    const fail = (exceeded: Count | undefined): never => {
      if (exceeded) throw rateLimitedError(exceeded, reply);
      reply.header('www-authenticate', error.code === INVALID_API_KEY.code ? `${CHALLENGE}, error="invalid_token"` : CHALLENGE);
      throw error;
    };
    const exceeded = this.rateLimits.countFailure(request.ip);
    return exceeded instanceof Promise ? exceeded.then(fail) : fail(exceeded);
  }
}

/** Requires the scopes of the route. Rejects all requests to routes that declare neither scopes nor `@Public`. */
@Injectable()
export class ScopesGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const { authorization: required } = routeOf(context);
    if (required === 'public') return true;
    const [request, reply] = context.getArgs<[FastifyRequest, FastifyReply]>();
    const granted = request.principal?.scopes ?? [];
    if (required.length > 0 && required.every((scope) => granted.includes(scope))) return true;
    reply.header('www-authenticate', `${CHALLENGE}, error="insufficient_scope", scope="${required.join(' ')}"`);
    throw new DomainError(INSUFFICIENT_SCOPE);
  }
}

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
function routeOf(context: ExecutionContext): Route {
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
