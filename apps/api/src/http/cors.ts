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

const PREFLIGHT_LIFETIME_SECONDS = '600';

/** Returns the headers that let a script of an allowed origin read a response. */
export function corsHeaders(origins: readonly string[], origin: string | undefined): Record<string, string> {
  if (origins.length === 0) return {};
  return {
    vary: 'Origin',
    ...(origin !== undefined &&
      origins.includes(origin) && {
        'access-control-allow-origin': origin,
        'access-control-expose-headers': EXPOSED_HEADERS.join(', '),
      }),
  };
}

/**
 * Returns the headers that answer a preflight of an allowed origin, in addition to `corsHeaders`. Credentials are not allowed: API keys are
 * sent in a header, never in cookies.
 * @param methods of the path, separated by commas
 */
export function preflightHeaders(origins: readonly string[], request: IncomingHttpHeaders, methods: string): Record<string, string> {
  const { origin, 'access-control-request-method': method, 'access-control-request-headers': requested } = request;
  if (origin === undefined || method === undefined || !origins.includes(origin)) return {};
  return {
    'access-control-allow-methods': methods,
    'access-control-max-age': PREFLIGHT_LIFETIME_SECONDS,
    ...(requested !== undefined && { 'access-control-allow-headers': requested }),
  };
}

/** Adds the CORS headers to every response. */
export function allowOrigins(fastify: FastifyInstance, origins: readonly string[]): void {
  fastify.addHook('onRequest', ({ raw }, reply, done) => {
    reply.headers(corsHeaders(origins, raw.headers.origin));
    done();
  });
}
