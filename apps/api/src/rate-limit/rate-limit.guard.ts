import { RATE_LIMIT, type RateLimitPolicy } from '@animal-store/http-kit';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Count } from './counter.js';
import { type ClientLimit, rateLimitedError, RateLimits } from './rate-limits.js';

/** Counts each request of a client and sets the RateLimit headers. Requests without a client have no quota. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  /** Limits of `@RateLimit`, by controller and handler. */
  private readonly policies = new WeakMap<object, Map<object, ClientLimit | undefined>>();

  constructor(
    private readonly rateLimits: RateLimits,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    const [{ principal }, reply] = context.getArgs<[FastifyRequest, FastifyReply]>();
    if (!principal) return true;
    const limit = this.rateLimits.limitOfClient(principal.rateLimit);
    const policy = this.policyOf(context);
    if (policy) return this.countAll(principal.clientId, limit ? [limit, policy] : [policy], reply);
    if (!limit) return true;
    // Only with Redis, the result is a promise, which costs Nest an await.
    const count = limit.counter.add(principal.clientId);
    return count instanceof Promise ? count.then((counted) => admit(limit, counted, reply)) : admit(limit, count, reply);
  }

  private policyOf(context: ExecutionContext): ClientLimit | undefined {
    const [controller, handler] = [context.getClass(), context.getHandler()];
    const policies = this.policies.get(controller) ?? new Map<object, ClientLimit | undefined>();
    if (policies.has(handler)) return policies.get(handler);
    const policy = this.reflector.getAllAndOverride<RateLimitPolicy | undefined>(RATE_LIMIT, [handler, controller]);
    const limit = policy && this.rateLimits.limitOfPolicy(policy);
    this.policies.set(controller, policies.set(handler, limit));
    return limit;
  }

  /** Counts the request for every limit, also if one of them is exceeded. */
  private async countAll(clientId: bigint, limits: readonly ClientLimit[], reply: FastifyReply): Promise<true> {
    const counts = await Promise.all(limits.map(async (limit) => ({ limit, count: await limit.counter.add(clientId) })));
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
