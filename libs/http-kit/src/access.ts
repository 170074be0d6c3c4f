import type { Principal } from '@animal-store/kernel';
import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the authentication guard; undefined on a public route. */
    principal: Principal | undefined;
  }
}

export const PUBLIC = Symbol('public');
export const REQUIRED_SCOPES = Symbol('requiredScopes');

/** The scopes of an operation in the OpenAPI document. */
export const SCOPES_EXTENSION = 'x-required-scopes';

/** Allows requests without an API key. A route with neither this nor `@RequireScopes` rejects all requests. */
export const Public = (): MethodDecorator & ClassDecorator => SetMetadata(PUBLIC, true);

/** Requires that the API key of the request has all of these scopes. */
export const RequireScopes = (...scopes: [string, ...string[]]): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(REQUIRED_SCOPES, scopes), ApiExtension(SCOPES_EXTENSION, scopes));

export const RATE_LIMIT = Symbol('rateLimit');

/** The policy of an operation in the OpenAPI document. */
export const RATE_LIMIT_EXTENSION = 'x-rate-limit';

export interface RateLimitPolicy {
  /** Shown in the `RateLimit` headers. All routes with the same name share one count per client. */
  readonly name: string;
  readonly requestsPerMinute: number;
}

/** Limits the requests of each client to a route, or to all routes of a controller, in addition to the policy `default`. */
export const RateLimit = (policy: RateLimitPolicy): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(RATE_LIMIT, policy), ApiExtension(RATE_LIMIT_EXTENSION, policy));
