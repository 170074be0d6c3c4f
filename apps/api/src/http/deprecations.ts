import type { PublicUrl } from '@animal-store/http-kit';
import type { FastifyInstance, onSendHookHandler } from 'fastify';

/** Adds Deprecation, Sunset and the successor's Link to every response of a deprecated route, errors of hooks included. */
export function announceDeprecations(fastify: FastifyInstance, publicUrl: PublicUrl): void {
  fastify.addHook('onRoute', (route) => {
    if (!route.config?.deprecation) return;
    const { deprecatedAt, removedAt, successor } = route.config.deprecation;
    const headers = { deprecation: `@${String(deprecatedAt.getTime() / 1000)}`, sunset: removedAt.toUTCString() };
    const link = `<${publicUrl.of(successor)}>; rel="successor-version"`;
    const announce: onSendHookHandler = ({ params }, reply, payload, done) => {
      // Nest responds with 404, as to an unknown path, if a path parameter is empty.
      if (reply.statusCode !== 404 || !Object.values(params as object).includes('')) {
        const others = reply.getHeader('link') as string | undefined;
        reply.headers(headers).header('link', others === undefined ? link : `${link}, ${others}`);
      }
      done(null, payload);
    };
    route.onSend = [announce, ...[route.onSend ?? []].flat()];
  });
}
