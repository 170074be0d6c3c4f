import { applyDecorators, Header } from '@nestjs/common';
import { ApiHeader, ApiResponse } from '@nestjs/swagger';
import { ETAG_HEADER } from './entity-tag.js';
import { ExtendRouteConfig } from './route-config.js';

const CACHE_CONTROL = 'private, no-cache';

/** The OpenAPI `headers` of a 200 that caches may store but must revalidate. */
export const REVALIDATION_HEADERS = {
  'Cache-Control': {
    description: 'Caches must revalidate the response before each use.',
    required: true,
    schema: { type: 'string' },
    example: CACHE_CONTROL,
  },
  ETag: ETAG_HEADER,
} as const;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether 200 responses have an ETag, and requests with a matching If-None-Match get a 304. */
    revalidated?: boolean;
  }
}

/** Adds an ETag to the 200 of a GET operation, and responds with 304 if the request has that ETag in If-None-Match. */
export const Revalidated = (): MethodDecorator =>
  applyDecorators(
    ExtendRouteConfig({ revalidated: true }),
    Header('cache-control', CACHE_CONTROL),
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description: 'ETags of the cached responses, or `*`.',
      schema: { type: 'string' },
    }),
    ApiResponse({ status: 304, description: 'The cached response is current.', headers: REVALIDATION_HEADERS }),
  );
