import type { Deprecation, PublicUrl } from '@animal-store/http-kit';
import { Clock, DomainError } from '@animal-store/kernel';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import { announcementOf } from '../errors/error-response.js';
import { OPERATION_REMOVED } from '../errors/http-errors.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The headers that announce the deprecation of the route. */
    announcement?: Readonly<Record<'deprecation' | 'sunset' | 'link', string>>;
  }

  interface FastifyRequest {
    /** When the deprecated operation is removed. */
    removedAt: Date | undefined;
  }
}

/** Adds Deprecation, Sunset and the successor's Link to every response of a deprecated route. */
export function announceDeprecations(fastify: FastifyInstance, publicUrl: PublicUrl): void {
  fastify.decorateRequest('removedAt', undefined);
  fastify.addHook('onRoute', (route) => {
    const deprecation = route.config?.deprecation;
    if (!deprecation) return;
    route.config = { ...route.config, announcement: announcement(deprecation, publicUrl) };
    const announce: onRequestHookHandler = (request, reply, done) => {
      request.removedAt = deprecation.removedAt;
      reply.headers(announcementOf(request) ?? {});
      done();
    };
    route.onRequest = [announce, ...[route.onRequest ?? []].flat()];
  });
}

function announcement({ deprecatedAt, removedAt, successor }: Deprecation, publicUrl: PublicUrl) {
  return {
    deprecation: `@${String(deprecatedAt.getTime() / 1000)}`,
    sunset: removedAt.toUTCString(),
    link: `<${publicUrl.of(successor)}>; rel="successor-version"`,
  };
}

/** Responds with 410 to a deprecated operation from its `removedAt` on. */
@Injectable()
export class DeprecationGuard implements CanActivate {
  constructor(private readonly clock: Clock) {}

  canActivate(context: ExecutionContext): true {
    const [{ removedAt }] = context.getArgs<[FastifyRequest]>();
    if (removedAt && this.clock.now().getTime() >= removedAt.getTime()) throw new DomainError(OPERATION_REMOVED);
    return true;
  }
}
