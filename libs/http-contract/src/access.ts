import { SetMetadata } from '@nestjs/common';

export const PUBLIC = Symbol('public');
export const REQUIRED_SCOPES = Symbol('requiredScopes');

/** Opens a route to requests without a key. A route with neither this nor `@RequireScopes` is refused to everybody. */
export const Public = (): MethodDecorator & ClassDecorator => SetMetadata(PUBLIC, true);

/** The scopes that the key of a request must have, all of them. */
export const RequireScopes = (...scopes: [string, ...string[]]): MethodDecorator & ClassDecorator => SetMetadata(REQUIRED_SCOPES, scopes);
