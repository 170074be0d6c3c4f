import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';

export const PUBLIC = Symbol('public');
export const REQUIRED_SCOPES = Symbol('requiredScopes');

/** The scopes of an operation in the OpenAPI document. */
export const SCOPES_EXTENSION = 'x-required-scopes';

/** Opens a route to requests without a key. A route with neither this nor `@RequireScopes` is refused to everybody. */
export const Public = (): MethodDecorator & ClassDecorator => SetMetadata(PUBLIC, true);

/** The scopes that the key of a request must have, all of them. */
export const RequireScopes = (...scopes: [string, ...string[]]): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(REQUIRED_SCOPES, scopes), ApiExtension(SCOPES_EXTENSION, scopes));
