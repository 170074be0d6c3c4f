import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { ExtendRouteConfig } from './route-config.js';

export const DEPRECATION = Symbol('deprecation');

/** The day of removal in the OpenAPI document, as an RFC 3339 date. */
const SUNSET_EXTENSION = 'x-sunset';

/** The whole deprecation; read, and taken away, where the OpenAPI document is made. */
export const DEPRECATION_EXTENSION = 'x-deprecation';

export interface Deprecation {
  /** Since when the operation is deprecated (RFC 9745). */
  readonly deprecatedAt: Date;
  /** From when on it answers 410 (RFC 8594). */
  readonly removedAt: Date;
  /** Path of what replaces it: `/v1/pets`. */
  readonly successor: string;
}

/** Announces the removal of an operation on each of its answers and ends it when the day has come. */
export const Deprecated = (deprecation: Deprecation): MethodDecorator =>
  applyDecorators(
    SetMetadata(DEPRECATION, deprecation),
    ExtendRouteConfig({ deprecation }),
    ApiExtension(SUNSET_EXTENSION, deprecation.removedAt.toISOString().slice(0, 10)),
    ApiExtension(DEPRECATION_EXTENSION, deprecation),
  );
