import { AuthenticateApiKey } from '@animal-store/access-application';
import { INSUFFICIENT_SCOPE, INVALID_API_KEY, MISSING_API_KEY } from '@animal-store/access-domain';
import { type Principal, PUBLIC, REQUIRED_SCOPES } from '@animal-store/http-contract';
import { DomainError } from '@animal-store/kernel';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';

const CHALLENGE = 'Bearer realm="animal-store"';
// RFC 9110, section 11.1: the scheme is case-insensitive.
const BEARER = /^bearer +(\S.*)$/i;

type Access = 'public' | readonly string[];

/** Lets a request through when the route is public or its key has the route's scopes; a route that says neither is closed. */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  private readonly accessOf = new Map<object, Access>();

  constructor(
    private readonly authenticate: AuthenticateApiKey,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const access = this.access(context);
    if (access === 'public') return true;
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const key = BEARER.exec(request.headers.authorization ?? '')?.[1];
    if (key === undefined) {
      reply.header('WWW-Authenticate', CHALLENGE);
      throw new DomainError(MISSING_API_KEY);
    }
    try {
      // A key that is known already is answered without a promise.
      const principal = this.authenticate.execute(key);
      return principal instanceof Promise
        ? principal.then(
            (found) => admit(found, access, request, reply),
            (error: unknown) => refuse(error, reply),
          )
        : admit(principal, access, request, reply);
    } catch (error) {
      return refuse(error, reply);
    }
  }

  private access(context: ExecutionContext): Access {
    const handler = context.getHandler();
    let access = this.accessOf.get(handler);
    if (access === undefined) {
      const targets = [handler, context.getClass()];
      const scopes = this.reflector.getAllAndOverride<readonly string[] | undefined>(REQUIRED_SCOPES, targets);
      access = this.reflector.getAllAndOverride<boolean | undefined>(PUBLIC, targets) ? 'public' : (scopes ?? []);
      this.accessOf.set(handler, access);
    }
    return access;
  }
}

function admit(principal: Principal, required: readonly string[], request: FastifyRequest, reply: FastifyReply): true {
  request.principal = principal;
  if (required.length > 0 && required.every((scope) => principal.scopes.includes(scope))) return true;
  reply.header('WWW-Authenticate', `${CHALLENGE}, error="insufficient_scope", scope="${required.join(' ')}"`);
  throw new DomainError(INSUFFICIENT_SCOPE);
}

function refuse(error: unknown, reply: FastifyReply): never {
  if (error instanceof DomainError && error.code === INVALID_API_KEY.code) {
    reply.header('WWW-Authenticate', `${CHALLENGE}, error="invalid_token"`);
  }
  throw error;
}
