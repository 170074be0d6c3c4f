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
