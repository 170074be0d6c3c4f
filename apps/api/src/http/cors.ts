import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** Response headers that scripts of other origins may read, in addition to the CORS-safelisted ones. */
const EXPOSED_HEADERS = [
  'Accept-Patch',
  'Allow',
  'Deprecation',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-Request-Id',
];

/** Adds the headers that let scripts of the allowed origins read every response. */
export function allowOrigins(fastify: FastifyInstance, origins: readonly string[]): void {
  const exposed = EXPOSED_HEADERS.join(', ');
  fastify.addHook('onRequest', ({ raw: { headers } }, reply, done) => {
    reply.header('vary', 'Origin');
    if (headers.origin !== undefined && origins.includes(headers.origin))
      reply.headers({ 'access-control-allow-origin': headers.origin, 'access-control-expose-headers': exposed });
    done();
  });
}

/** Returns what answers a preflight besides `allowOrigins`. No credentials: API keys are sent in a header, never in cookies. */
export function preflightHeaders(origins: readonly string[], request: IncomingHttpHeaders, methods: string): Record<string, string> {
  const { origin, 'access-control-request-method': method, 'access-control-request-headers': requested } = request;
  if (origin === undefined || method === undefined || !origins.includes(origin)) return {};
  return {
    'access-control-allow-methods': methods,
    'access-control-max-age': '600',
    ...(requested !== undefined && { 'access-control-allow-headers': requested }),
  };
}
