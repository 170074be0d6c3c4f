import { AuthenticateApiKey } from '@animal-store/access-application';
import { INSUFFICIENT_SCOPE, INVALID_API_KEY, MISSING_API_KEY } from '@animal-store/access-domain';
import { type Principal, PUBLIC, REQUIRED_SCOPES } from '@animal-store/http-contract';
import { DomainError } from '@animal-store/kernel';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RATE_LIMITED } from '../errors/http-errors.js';
import type { Quota } from '../rate-limit/rate-limiter.js';
import { RateLimits } from '../rate-limit/rate-limits.js';

const CHALLENGE = 'Bearer realm="animal-store"';
// RFC 9110, section 11.1: the scheme is case-insensitive.
const BEARER = /^bearer +(\S.*)$/i;

interface Route {
  readonly operation: string;
  readonly access: 'public' | readonly string[];
}

/**
 * Lets a request through when the route is public, or when its key has the route's scopes and its client keeps to the rate limit.
 * A route that says neither is closed.
 */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  private readonly routes = new Map<object, Route>();

  constructor(
    private readonly authenticate: AuthenticateApiKey,
    private readonly reflector: Reflector,
    private readonly rateLimits: RateLimits,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { operation, access } = this.route(context);
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    request.operation = operation;
    if (access === 'public') return true;
    const reply = http.getResponse<FastifyReply>();
    const key = BEARER.exec(request.headers.authorization ?? '')?.[1];
    if (key === undefined) return this.refuse(new DomainError(MISSING_API_KEY), request, reply);
    let principal: Principal | Promise<Principal>;
    try {
      // A key that is known already is answered without a promise.
      principal = this.authenticate.execute(key);
    } catch (error) {
      return this.refuse(error, request, reply);
    }
    return principal instanceof Promise
      ? principal.then(
          (found) => this.admit(found, access, request, reply),
          (error: unknown) => this.refuse(error, request, reply),
        )
      : this.admit(principal, access, request, reply);
  }

  private route(context: ExecutionContext): Route {
    const handler = context.getHandler();
    let route = this.routes.get(handler);
    if (route === undefined) {
      const targets = [handler, context.getClass()];
      const isPublic = this.reflector.getAllAndOverride<boolean | undefined>(PUBLIC, targets);
      const scopes = this.reflector.getAllAndOverride<readonly string[] | undefined>(REQUIRED_SCOPES, targets);
      route = { operation: handler.name, access: isPublic ? 'public' : (scopes ?? []) };
      this.routes.set(handler, route);
    }
    return route;
  }

  private admit(principal: Principal, scopes: readonly string[], request: FastifyRequest, reply: FastifyReply): true | Promise<true> {
    request.principal = principal;
    const quota = this.rateLimits.ofClient(principal.clientId);
    if (quota === undefined) return permit(principal, scopes, reply);
    const proceed = (counted: Quota) => {
      this.rateLimits.announce(counted, reply);
      if (counted.isExceeded) throw rateLimited(counted, reply);
      return permit(principal, scopes, reply);
    };
    return quota instanceof Promise ? quota.then(proceed) : proceed(quota);
  }

  /** Only a failed authentication counts against its address, so that it never touches who has a key. */
  private refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): never | Promise<never> {
    if (!(error instanceof DomainError) || error.kind !== 'unauthenticated') throw error;
    const fail = (quota: Quota | undefined): never => {
      if (quota?.isExceeded) throw rateLimited(quota, reply);
      reply.header('WWW-Authenticate', error.code === INVALID_API_KEY.code ? `${CHALLENGE}, error="invalid_token"` : CHALLENGE);
      throw error;
    };
    const quota = this.rateLimits.ofFailure(request.ip);
    return quota instanceof Promise ? quota.then(fail) : fail(quota);
  }
}

function permit(principal: Principal, required: readonly string[], reply: FastifyReply): true {
  if (required.length > 0 && required.every((scope) => principal.scopes.includes(scope))) return true;
  reply.header('WWW-Authenticate', `${CHALLENGE}, error="insufficient_scope", scope="${required.join(' ')}"`);
  throw new DomainError(INSUFFICIENT_SCOPE);
}

function rateLimited({ resetSeconds }: Quota, reply: FastifyReply): DomainError {
  reply.header('Retry-After', String(resetSeconds));
  return new DomainError(RATE_LIMITED);
}
