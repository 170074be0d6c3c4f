import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';

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
