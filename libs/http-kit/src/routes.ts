import { Clock, DomainError, type ErrorDefinition, type Principal } from '@animal-store/kernel';
import {
  type Abstract,
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  type FactoryProvider,
  Inject,
  mixin,
  SetMetadata,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants';
import { ApiBody, ApiConsumes, ApiExtension } from '@nestjs/swagger';
import type { FastifyContextConfig, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the authentication guard; undefined on a public route. */
    principal: Principal | undefined;
    /** Messages about invalid headers. Errors about the body also name them. */
    headerViolations?: string[];
  }
  interface FastifyContextConfig {
    /** Announced in every response of the route. */
    deprecation?: Deprecation;
    /** The body of the route, if it is bytes instead of JSON. */
    acceptedBytes?: AcceptedBytes;
  }
}

/** Builds the URLs in responses: below the configured base URL if there is one, otherwise relative to the origin. */
export class PublicUrl {
  /** @param docs The URL of the guides. */
  constructor(
    private readonly base = '',
    readonly docs?: string,
  ) {}

  /** @param path starts with a slash; for an operation, includes the version prefix: `/v1/pets` */
  of(path: string): string {
    return this.base + path;
  }
}

/** Returns the provider of a use case, which is a plain class. Nest injects the ports of its constructor. */
export function provideUseCase<UseCase, Ports extends unknown[]>(
  type: new (...ports: Ports) => UseCase,
  ...ports: { [Index in keyof Ports]: Abstract<Ports[Index]> | Type<Ports[Index]> }
): FactoryProvider<UseCase> {
  return { provide: type, inject: ports, useFactory: (...injected: unknown[]) => new type(...(injected as Ports)) };
}

/** Adds to the route's configuration. Nest's RouteConfig would replace it. */
export const ExtendRouteConfig =
  (config: FastifyContextConfig): MethodDecorator =>
  (target, key, descriptor) => {
    const existing = Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, descriptor.value as object) as FastifyContextConfig | undefined;
    RouteConfig({ ...existing, ...config })(target, key, descriptor);
  };

/** Extensions of the operations in the OpenAPI document, which the decorators of a route set. */
export const EXTENSIONS = { scopes: 'x-required-scopes', rateLimit: 'x-rate-limit', sunset: 'x-sunset' } as const;

/** What only the generation of the OpenAPI document reads. It removes these extensions. */
export const INTERNAL_EXTENSIONS = {
  acceptedBytes: 'x-accepted-bytes',
  deprecation: 'x-deprecation',
  entityTag: 'x-entity-tag',
  precondition: 'x-precondition',
  revalidation: 'x-revalidation',
  throws: 'x-throws',
} as const;

/** The metadata of `@Public` and `@RequireScopes`. That of a handler replaces that of its class. */
export const AUTHORIZATION = Symbol('authorization');

/** Of two declarations, one would have no effect, and the route could be public by mistake. */
const assertFirst: MethodDecorator & ClassDecorator = (target: object, key?: PropertyKey, descriptor?: PropertyDescriptor) => {
  if (Reflect.hasOwnMetadata(AUTHORIZATION, (descriptor?.value ?? target) as object))
    throw new TypeError(`${String(key ?? (target as Type).name)} must have only one of @Public and @RequireScopes.`);
};

/** Allows requests without an API key, which are limited per address. A route with neither this nor `@RequireScopes` rejects all requests. */
export const Public = (): MethodDecorator & ClassDecorator =>
  applyDecorators(assertFirst, SetMetadata(AUTHORIZATION, 'public'), ApiExtension(EXTENSIONS.scopes, []));

/** `<context>:<what it allows>` */
export type Scope = `${string}:${string}`;

/** Requires that the API key of the request has all of these scopes. */
export const RequireScopes = (...scopes: [Scope, ...Scope[]]): MethodDecorator & ClassDecorator =>
  applyDecorators(assertFirst, SetMetadata(AUTHORIZATION, scopes), ApiExtension(EXTENSIONS.scopes, scopes));

export const RATE_LIMIT = Symbol('rateLimit');

export interface RateLimitPolicy {
  /** Shown in the `RateLimit` headers. All routes with the same name share one count per client, or per address on public routes. */
  readonly name: string;
  readonly requestsPerMinute: number;
}

/** The limits by name. That of `default` is a setting. */
const limits = new Map([['default', 0]]);

/** Limits the requests of each client, or on public routes of each address, in addition to the policy `default`. */
export function RateLimit(policy: RateLimitPolicy): MethodDecorator & ClassDecorator {
  const { name, requestsPerMinute } = policy;
  if ((limits.get(name) ?? requestsPerMinute) !== requestsPerMinute) throw new TypeError(`Two rate limits have the name ${name}.`);
  if (!/^[a-z0-9-]+$/.test(name) || !Number.isInteger(requestsPerMinute) || requestsPerMinute < 1)
    throw new TypeError(`The rate limit ${name} must have a name in kebab-case, and an integer of at least 1 as requestsPerMinute.`);
  limits.set(name, requestsPerMinute);
  return applyDecorators(SetMetadata(RATE_LIMIT, policy), ApiExtension(EXTENSIONS.rateLimit, policy));
}

export interface AcceptedBytes {
  readonly types: readonly string[];
  readonly maxBytes: number;
}

/**
 * Receives a body of bytes, such as a PDF, instead of JSON: `@Body() pdf: Buffer`. It is read after the guards have accepted the request.
 * @param type the accepted media types, such as `application/pdf`
 */
export function ReceivesBytes({ type, maxBytes }: { type: string | readonly [string, ...string[]]; maxBytes: number }): MethodDecorator {
  const acceptedBytes: AcceptedBytes = { types: [type].flat(), maxBytes };
  if (!acceptedBytes.types.every((each) => /^[a-z]+\/[a-z0-9][a-z0-9.+_-]*$/.test(each)))
    throw new TypeError('The type of @ReceivesBytes must be a media type in lower case without parameters, such as application/pdf.');
  return applyDecorators(
    ExtendRouteConfig({ acceptedBytes }),
    ApiConsumes(...acceptedBytes.types),
    ApiBody({ schema: { type: 'string', format: 'binary', minLength: 1, maxLength: maxBytes } }),
    ApiExtension(INTERNAL_EXTENSIONS.acceptedBytes, acceptedBytes),
  );
}

export const INVALID_REQUEST = {
  code: 'invalid_request',
  kind: 'invalid',
  message: 'The request is not valid.',
} as const satisfies ErrorDefinition;

/** Documents the errors specific to an operation. The API documents the errors that all operations share. */
export const Throws = (...errors: ErrorDefinition[]): MethodDecorator => ApiExtension(INTERNAL_EXTENSIONS.throws, errors);

/** Combines the decorator of a parameter with decorators of its method, which document the parameter. */
export const documented =
  (parameter: ParameterDecorator, ...method: MethodDecorator[]): ParameterDecorator =>
  (target, key = '', index) => {
    parameter(target, key, index);
    applyDecorators(...method)(target, key, Object.getOwnPropertyDescriptor(target, key) as PropertyDescriptor);
  };

/** Injects what `parse` returns for a request header. If it throws INVALID_REQUEST, `rejectHeader` rejects the request. */
export const HeaderValue = (name: string, parse: (field: string | undefined, request: FastifyRequest) => unknown): ParameterDecorator =>
  createParamDecorator((_data: unknown, context: ExecutionContext) => {
    const [request] = context.getArgs<[FastifyRequest]>();
    const field = request.headers[name];
    try {
      return parse(field === undefined ? undefined : String(field), request);
    } catch (error) {
      return rejectHeader(request, error);
    }
  })();

/** Rejects with INVALID_REQUEST after the pipes, so that the error can name the violations of the body. Throws other errors. */
export function rejectHeader(request: FastifyRequest, error: unknown): Promise<never> {
  if (!(error instanceof DomainError) || error.code !== INVALID_REQUEST.code) throw error;
  (request.headerViolations ??= []).push(error.message);
  return new Promise((_resolve, reject) => setImmediate(reject, error));
}

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

/** Marks an operation as deprecated: its responses announce the removal, and from `removedAt` on it responds with 410. */
export const Deprecated = (deprecation: Deprecation): MethodDecorator =>
  applyDecorators(
    ExtendRouteConfig({ deprecation }),
    UseGuards(guardUntil(deprecation.removedAt)),
    ApiExtension(EXTENSIONS.sunset, deprecation.removedAt.toISOString().slice(0, 10)),
    ApiExtension(INTERNAL_EXTENSIONS.deprecation, deprecation),
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
