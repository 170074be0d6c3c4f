import type { FastifyCorsOptions } from '@fastify/cors';
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

const PREFLIGHT_LIFETIME_SECONDS = 600;

/**
 * Returns the options of @fastify/cors. API keys are sent in a header, never in cookies, so credentials are off.
 * @param methods of all routes. Read for each preflight, so routes may be added later.
 */
export function corsOptions(origins: readonly string[], methods: string[]): FastifyCorsOptions {
  return {
    origin: [...origins],
    methods,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_LIFETIME_SECONDS,
    credentials: false,
    strictPreflight: false,
  };
}

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

/** Returns the CORS headers of a response to a request whose headers are unknown: with several origins, none of them can be allowed. */
export function corsHeadersOfUnknown(origins: readonly string[]): Record<string, string> {
  return corsHeaders(origins, origins.length === 1 ? origins[0] : undefined);
}

/** Adds the CORS headers to every response, including errors from hooks that run before @fastify/cors. */
export function allowOrigins(fastify: FastifyInstance, origins: readonly string[]): void {
  fastify.addHook('onRequest', ({ raw }, reply, done) => {
    reply.headers(corsHeaders(origins, raw.headers.origin));
    done();
  });
}
