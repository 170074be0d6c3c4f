import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Quota } from './rate-limiter.js';
import { rateLimitedError, RateLimits } from './rate-limits.js';

/** Counts each request of a client and sets the RateLimit headers. Requests without a client have no quota. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(private readonly rateLimits: RateLimits) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    const [{ principal }, reply] = context.getArgs<[FastifyRequest, FastifyReply]>();
    const limit = principal && this.rateLimits.limitOfClient(principal.rateLimit);
    if (!limit) return true;
    const admit = (counted: Quota): true => {
      limit.setHeaders(counted, reply);
      if (counted.isExceeded) throw rateLimitedError(counted, reply);
      return true;
    };
    const quota = limit.take(principal.clientId);
    return quota instanceof Promise ? quota.then(admit) : admit(quota);
  }
}
