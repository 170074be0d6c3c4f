import { AuthenticateApiKey } from '@animal-store/access-application';
import { INSUFFICIENT_SCOPE, INVALID_API_KEY, MISSING_API_KEY } from '@animal-store/access-domain';
import { Database } from '@animal-store/database';
import { AUTHORIZATION, RATE_LIMIT, type RateLimitPolicy } from '@animal-store/http-kit';
import { DomainError, type Principal } from '@animal-store/kernel';
import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import type { Count } from '../rate-limit/counter.js';
import { addressBucket } from '../rate-limit/address-group.js';
import { type ClientLimit, rateLimitedError, RateLimits } from '../rate-limit/rate-limits.js';

/** Allows requests without an API key and without a limit to what is not an operation of the API, such as a probe. */
export const Operational = (): ClassDecorator => SetMetadata(AUTHORIZATION, 'operational');

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
    if (authorization === 'operational') return true;
    // For logs and metrics: no earlier hook knows the handler.
    request.operation = operation;
    if (authorization === 'public') return true;
    if (!this.database.hasOpened) throw new DomainError(SERVICE_UNAVAILABLE);
    const key = BEARER.exec(request.headers.authorization ?? '')?.[1];
    try {
      if (key === undefined) throw new DomainError(MISSING_API_KEY);
      const principal = this.authenticate.execute(key);
      // For a cached key, the result is not a promise, which saves Nest an await.
      if (principal instanceof Promise) return this.identify(principal, request, reply);
      request.principal = principal;
      return true;
    } catch (error) {
      return this.reject(error, request, reply);
    }
  }

  private async identify(principal: Promise<Principal>, request: FastifyRequest, reply: FastifyReply): Promise<true> {
    try {
      request.principal = await principal;
      return true;
    } catch (error) {
      return this.reject(error, request, reply);
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

/** Counts each request of a client, or of an address on a public route, and sets the RateLimit headers. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(private readonly rateLimits: RateLimits) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    const [request, reply] = context.getArgs<[FastifyRequest, FastifyReply]>();
    const { authorization, rateLimit } = routeOf(context);
    if (authorization === 'operational') return true;
    const { principal } = request;
    // Buckets of addresses and identifiers of clients are numbers.
    const key = principal?.clientId ?? `address-${addressBucket(request.ip)}`;
    const limit = this.rateLimits.limitOfClient(principal?.rateLimit);
    const policy = rateLimit && this.rateLimits.limitOfPolicy(rateLimit);
    if (policy) return this.countAll(key, limit ? [limit, policy] : [policy], reply);
    if (!limit) return true;
    // Only with Redis, the result is a promise, which costs Nest an await.
    const count = limit.counter.add(key);
    return count instanceof Promise ? count.then((counted) => admit(limit, counted, reply)) : admit(limit, count, reply);
  }

  /** Counts the request for every limit, also if one of them is exceeded. */
  private async countAll(key: bigint | string, limits: readonly ClientLimit[], reply: FastifyReply): Promise<true> {
    const counts = await Promise.all(limits.map(async (limit) => ({ limit, count: await limit.counter.add(key) })));
    reply.header('ratelimit-policy', limits.map(({ policy }) => policy).join(', '));
    reply.header('ratelimit', counts.map(({ limit, count }) => limit.describe(count)).join(', '));
    const exceeded = counts.filter(({ limit, count }) => count.points > limit.rateLimit).map(({ count }) => count);
    const [last] = exceeded.sort((one, other) => other.msLeft - one.msLeft);
    if (last) throw rateLimitedError(last, reply);
    return true;
  }
}

function admit(limit: ClientLimit, count: Count, reply: FastifyReply): true {
  reply.header('ratelimit-policy', limit.policy).header('ratelimit', limit.describe(count));
  if (count.points > limit.rateLimit) throw rateLimitedError(count, reply);
  return true;
}

/** Requires the scopes of the route. Rejects all requests to routes that declare neither scopes nor `@Public`. */
@Injectable()
export class ScopesGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const { authorization: required } = routeOf(context);
    if (typeof required === 'string') return true;
    const [request, reply] = context.getArgs<[FastifyRequest, FastifyReply]>();
    const granted = request.principal?.scopes ?? [];
    if (required.length > 0 && required.every((scope) => granted.includes(scope))) return true;
    reply.header('www-authenticate', `${CHALLENGE}, error="insufficient_scope", scope="${required.join(' ')}"`);
    throw new DomainError(INSUFFICIENT_SCOPE);
  }
}

interface Route {
  /** The required scopes, unless no key is. Empty if the route declares nothing; ScopesGuard rejects such routes. */
  readonly authorization: 'operational' | 'public' | readonly string[];
  /** The name of the handler, for logs and metrics. */
  readonly operation: string;
  readonly rateLimit: RateLimitPolicy | undefined;
}

const reflector = new Reflector();

/** By controller and handler: controllers of several versions may inherit a handler. */
const routes = new WeakMap<object, Map<object, Route>>();

function routeOf(context: ExecutionContext): Route {
  const controller = context.getClass();
  const handler = context.getHandler();
  const known = routes.get(controller)?.get(handler);
  if (known) return known;
  const targets = [handler, controller];
  const route: Route = {
    authorization: reflector.getAllAndOverride<Route['authorization'] | undefined>(AUTHORIZATION, targets) ?? [],
    operation: handler.name,
    rateLimit: reflector.getAllAndOverride<RateLimitPolicy | undefined>(RATE_LIMIT, targets),
  };
  routes.set(controller, (routes.get(controller) ?? new Map<object, Route>()).set(handler, route));
  return route;
}
