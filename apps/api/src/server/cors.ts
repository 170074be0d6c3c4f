import type { FastifyCorsOptions } from '@fastify/cors';

/** Every response header that a script of another origin may want to read; the safelisted ones need no mention. */
const EXPOSED_HEADERS = [
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

/** Keys travel in a header that scripts set themselves, never in cookies: no credentials. */
export function corsOptions(origins: readonly string[]): FastifyCorsOptions {
  return {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_LIFETIME_SECONDS,
    credentials: false,
    strictPreflight: false,
  };
}
