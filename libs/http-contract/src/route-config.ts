import { RouteConfig } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants';
import type { Deprecation } from './deprecation.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Announced on every answer of the route. */
    deprecation?: Deprecation;
    /** Its 200 carries an ETag, and a request that has it already is answered 304. */
    revalidated?: boolean;
  }
}

interface Config {
  readonly deprecation?: Deprecation;
  readonly revalidated?: boolean;
}

/** Adds to the route's configuration; Nest's own RouteConfig replaces it. */
export const ExtendRouteConfig =
  (config: Config): MethodDecorator =>
  (target, key, descriptor) => {
    const known = Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, descriptor.value as object) as Config | undefined;
    RouteConfig({ ...known, ...config })(target, key, descriptor);
  };
