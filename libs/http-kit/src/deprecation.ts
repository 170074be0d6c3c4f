import { Clock, DomainError, type ErrorDefinition } from '@animal-store/kernel';
import { applyDecorators, type CanActivate, Inject, mixin, UseGuards } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { ExtendRouteConfig } from './route-config.js';

/** The removal date in the OpenAPI document (RFC 3339). */
const SUNSET_EXTENSION = 'x-sunset';

/** Extension with the `Deprecation` of an operation. The generation of the OpenAPI document reads and removes it. */
export const DEPRECATION_EXTENSION = 'x-deprecation';

export const OPERATION_REMOVED = {
  code: 'operation_removed',
  kind: 'removed',
  message: 'This operation has been removed; the Link header holds the URL of its replacement.',
} as const satisfies ErrorDefinition;

export interface Deprecation {
  /** Since when the operation is deprecated (RFC 9745). */
  readonly deprecatedAt: Date;
  /** From this date on, the operation responds with 410 (RFC 8594). */
  readonly removedAt: Date;
  /** Path of the replacement, such as `/v1/pets`. */
  readonly successor: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Announced in every response of the route. */
    deprecation?: Deprecation;
  }
}

/** Marks an operation as deprecated: its responses announce the removal, and from `removedAt` on it responds with 410. */
export const Deprecated = (deprecation: Deprecation): MethodDecorator =>
  applyDecorators(
    ExtendRouteConfig({ deprecation }),
    UseGuards(guardUntil(deprecation.removedAt)),
    ApiExtension(SUNSET_EXTENSION, deprecation.removedAt.toISOString().slice(0, 10)),
    ApiExtension(DEPRECATION_EXTENSION, deprecation),
  );

/** Returns a guard that runs after those of the app, and rejects all requests from this date on. */
function guardUntil(removedAt: Date) {
  class RemovalGuard implements CanActivate {
    constructor(@Inject(Clock) private readonly clock: Clock) {}

    canActivate(): true {
      if (this.clock.now() >= removedAt) throw new DomainError(OPERATION_REMOVED);
      return true;
    }
  }
  return mixin(RemovalGuard);
}
