import type { Deprecation, PublicUrl } from '@animal-store/http-kit';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { announcementOf } from '../errors/error-response.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The headers that announce the deprecation of the route. */
    announcement?: Readonly<Record<'deprecation' | 'sunset' | 'link', string>>;
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

function announcement({ deprecatedAt, removedAt, successor }: Deprecation, publicUrl: PublicUrl) {
  return {
    deprecation: `@${String(deprecatedAt.getTime() / 1000)}`,
    sunset: removedAt.toUTCString(),
    link: `<${publicUrl.of(successor)}>; rel="successor-version"`,
  };
}
