import { RATE_LIMIT, type RateLimitPolicy } from '@animal-store/http-kit';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { MetadataScanner, ModulesContainer, Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Count } from './counter.js';
import { type ClientLimit, rateLimitedError, RateLimits } from './rate-limits.js';

/** Counts each request of a client and sets the RateLimit headers. Requests without a client have no quota. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  /** Limits of `@RateLimit`, by controller and handler. */
  private readonly policies = new Map<object, Map<object, ClientLimit>>();

  constructor(
    private readonly rateLimits: RateLimits,
    modules: ModulesContainer,
  ) {
    const [reflector, scanner] = [new Reflector(), new MetadataScanner()];
    for (const { metatype } of [...modules.values()].flatMap(({ controllers }) => [...controllers.values()])) {
      if (!metatype) continue;
      const prototype = metatype.prototype as Record<string, () => unknown>;
      for (const handler of scanner.getAllMethodNames(prototype).flatMap((name) => prototype[name] ?? [])) {
        const policy = reflector.getAllAndOverride<RateLimitPolicy | undefined>(RATE_LIMIT, [handler, metatype]);
        const limit = policy && rateLimits.limitOfPolicy(policy);
        if (!limit) continue;
        if (!this.policies.has(metatype)) this.policies.set(metatype, new Map());
        this.policies.get(metatype)?.set(handler, limit);
      }
    }
  }

  canActivate(context: ExecutionContext): true | Promise<true> {
    const [{ principal }, reply] = context.getArgs<[FastifyRequest, FastifyReply]>();
    if (!principal) return true;
    const limit = this.rateLimits.limitOfClient(principal.rateLimit);
    const policy = this.policies.get(context.getClass())?.get(context.getHandler());
    if (policy) return this.countAll(principal.clientId, limit ? [limit, policy] : [policy], reply);
    if (!limit) return true;
    // Only with Redis, the result is a promise, which costs Nest an await.
    const count = limit.counter.add(principal.clientId);
    return count instanceof Promise ? count.then((counted) => admit(limit, counted, reply)) : admit(limit, count, reply);
  }

  /** Counts the request for every limit, also if one of them is exceeded. */
  private async countAll(clientId: bigint, limits: readonly ClientLimit[], reply: FastifyReply): Promise<true> {
    const counts = await Promise.all(limits.map(async (limit) => ({ limit, count: await limit.counter.add(clientId) })));
    reply.header('ratelimit-policy', limits.map(({ policy }) => policy).join(', '));
    reply.header('ratelimit', counts.map(({ limit, count }) => limit.describe(count)).join(', '));
    const exceeded = counts
      .filter(({ limit, count }) => count.points > limit.rateLimit)
      .sort((one, other) => other.count.msLeft - one.count.msLeft);
    if (exceeded[0]) throw rateLimitedError(exceeded[0].count, reply);
    return true;
  }
}

function admit(limit: ClientLimit, count: Count, reply: FastifyReply): true {
  reply.header('ratelimit-policy', limit.policy).header('ratelimit', limit.describe(count));
  if (count.points > limit.rateLimit) throw rateLimitedError(count, reply);
  return true;
}
