import { RouteConfig } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants';
import type { Deprecation } from './deprecation.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Announced in every response of the route. */
    deprecation?: Deprecation;
    /** Whether 200 responses have an ETag, and requests with a matching If-None-Match get a 304. */
    revalidated?: boolean;
    /** Whether 200 and 201 responses have an ETag. */
    conditional?: boolean;
  }
}

interface Config {
  readonly deprecation?: Deprecation;
  readonly revalidated?: boolean;
  readonly conditional?: boolean;
}

/** Adds to the route's configuration. Nest's RouteConfig would replace it. */
export const ExtendRouteConfig =
  (config: Config): MethodDecorator =>
  (target, key, descriptor) => {
    const existing = Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, descriptor.value as object) as Config | undefined;
    RouteConfig({ ...existing, ...config })(target, key, descriptor);
  };
