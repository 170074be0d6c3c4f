import { AuthenticateApiKey } from '@animal-store/access-application';
import { INVALID_API_KEY, MISSING_API_KEY } from '@animal-store/access-domain';
import { DatabaseConnection } from '@animal-store/database';
import { DomainError, type Principal } from '@animal-store/kernel';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import type { Count } from '../rate-limit/counter.js';
import { rateLimitedError, RateLimits } from '../rate-limit/rate-limits.js';
import { CHALLENGE, routeOf } from './route.js';

// RFC 9110, section 11.1: the scheme is case-insensitive.
const BEARER = /^bearer +(\S.*)$/i;

/** Identifies the client by its API key, which all routes require except public ones. */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  constructor(
    private readonly authenticate: AuthenticateApiKey,
    private readonly rateLimits: RateLimits,
    private readonly connection: DatabaseConnection,
  ) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    // Unlike switchToHttp(), this creates no closures.
    const [request, reply] = context.getArgs<[FastifyRequest, FastifyReply]>();
    const { authorization, operation } = routeOf(context);
    if (authorization === 'public') return true;
    // For logs and metrics: no earlier hook knows the handler.
    request.operation = operation;
    if (!this.connection.hasOpened) throw new DomainError(SERVICE_UNAVAILABLE);
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
