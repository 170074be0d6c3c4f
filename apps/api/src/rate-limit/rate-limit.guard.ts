import { RATE_LIMIT, type RateLimitPolicy } from '@animal-store/http-kit';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { MetadataScanner, ModulesContainer, Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
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
    if (policy) return this.admitAll(principal.clientId, limit ? [limit, policy] : [policy], reply);
    return limit ? this.admit(principal.clientId, limit, reply) : true;
  }

  private admit(clientId: bigint, limit: ClientLimit, reply: FastifyReply): Promise<true> {
    return limit.take(clientId).then((quota) => {
      reply.header('ratelimit-policy', limit.policy).header('ratelimit', limit.describe(quota));
      if (quota.isExceeded) throw rateLimitedError(quota, reply);
      return true;
    });
  }

  /** Counts the request for every limit, also if one of them is exceeded. */
  private async admitAll(clientId: bigint, limits: readonly ClientLimit[], reply: FastifyReply): Promise<true> {
    const quotas = await Promise.all(limits.map((limit) => limit.take(clientId)));
    const remaining = quotas.map((quota, index) => limits[index]?.describe(quota));
    reply.header('ratelimit-policy', limits.map(({ policy }) => policy).join(', ')).header('ratelimit', remaining.join(', '));
    const [exceeded] = quotas.filter(({ isExceeded }) => isExceeded).sort((one, other) => other.resetSeconds - one.resetSeconds);
    if (exceeded) throw rateLimitedError(exceeded, reply);
    return true;
  }
}
