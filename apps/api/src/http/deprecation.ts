import { type Deprecation, DEPRECATION, type PublicUrl } from '@animal-store/http-contract';
import { Clock, DomainError } from '@animal-store/kernel';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { announcementOf } from '../errors/error-response.js';
import { OPERATION_REMOVED } from '../errors/http-errors.js';

/** The headers that announce the deprecation of a route. */
type Announcement = Readonly<Record<'deprecation' | 'sunset' | 'link', string>>;

declare module 'fastify' {
  interface FastifyContextConfig {
    announcement?: Announcement;
  }
}

/** Adds Deprecation, Sunset and the successor's Link to every response of a deprecated route. */
export function announceDeprecations(fastify: FastifyInstance, publicUrl: PublicUrl): void {
  fastify.addHook('onRoute', (route) => {
    const deprecation = route.config?.deprecation;
    if (!deprecation) return;
    route.config = { ...route.config, announcement: announcement(deprecation, publicUrl) };
    const announce: onRequestHookHandler = (request, reply, done) => {
      reply.headers(announcementOf(request) ?? {});
      done();
    };
    route.onRequest = [announce, ...[route.onRequest ?? []].flat()];
  });
}

function announcement({ deprecatedAt, removedAt, successor }: Deprecation, publicUrl: PublicUrl): Announcement {
  return {
    deprecation: `@${String(deprecatedAt.getTime() / 1000)}`,
    sunset: removedAt.toUTCString(),
    link: `<${publicUrl.of(successor)}>; rel="successor-version"`,
  };
}

/** Responds with 410 to a deprecated operation from its `removedAt` on. */
@Injectable()
export class DeprecationGuard implements CanActivate {
  /** By handler; null if it is not deprecated. */
  private readonly deprecations = new Map<object, Deprecation | null>();

  constructor(
    private readonly clock: Clock,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): true {
    const handler = context.getHandler();
    let deprecation = this.deprecations.get(handler);
    if (deprecation === undefined) {
      deprecation = this.reflector.get<Deprecation | undefined>(DEPRECATION, handler) ?? null;
      this.deprecations.set(handler, deprecation);
    }
    if (deprecation && this.clock.now().getTime() >= deprecation.removedAt.getTime()) throw new DomainError(OPERATION_REMOVED);
    return true;
  }
}
