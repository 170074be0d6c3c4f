import { RouteConfig } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants';
import type { FastifyContextConfig } from 'fastify';

/** Adds to the route's configuration. Nest's RouteConfig would replace it. */
export const ExtendRouteConfig =
  (config: FastifyContextConfig): MethodDecorator =>
  (target, key, descriptor) => {
    const existing = Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, descriptor.value as object) as FastifyContextConfig | undefined;
    RouteConfig({ ...existing, ...config })(target, key, descriptor);
  };
