import type { Deprecation, PublicUrl } from '@animal-store/http-kit';
import { Clock, DomainError } from '@animal-store/kernel';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import FindMyWay, { type Instance } from 'find-my-way';
import { announcementOf } from '../errors/error-response.js';
import { ACCEPT_PATCH, OPERATION_REMOVED } from '../errors/http-errors.js';
import { preflightHeaders } from './cors.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The headers that announce the deprecation of the route. */
    announcement?: Readonly<Record<'deprecation' | 'sunset' | 'link', string>>;
  }

  interface FastifyRequest {
    /** When the deprecated operation is removed. */
    removedAt: Date | undefined;
  }
}

/** The methods of each known path, for 405, OPTIONS and Allow. Fastify only reports whether method and path match together. */
export class RouteTable {
  private readonly methods = new Map<string, Set<string>>();
  private readonly router: Instance<FindMyWay.HTTPVersion.V1> = FindMyWay({ maxParamLength: Number.MAX_SAFE_INTEGER });

  /** Call before any route is registered. */
  recordRoutesOf(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', ({ method, url }) => {
      for (const one of [method].flat()) this.add(one, url);
    });
  }

  /** Returns the value of Allow, or undefined for an unknown path. */
  allowedMethods(requestUrl: string): string | undefined {
    const path = requestUrl.split('?', 1)[0] ?? '/';
    const found = this.router.find('GET', path);
    // Nest does not match a route if a path parameter is empty.
    if (!found || Object.values(found.params).includes('')) return undefined;
    return [...(found.store as Set<string>), 'OPTIONS'].join(', ');
  }

  /** Returns every route as `[method, path pattern]`. */
  entries(): [string, string][] {
    return [...this.methods].flatMap(([url, methods]) => [...methods].map((method): [string, string] => [method, url]));
  }

  private add(method: string, url: string): void {
    let methods = this.methods.get(url);
    if (!methods) {
      methods = new Set();
      this.methods.set(url, methods);
      this.router.on('GET', url, () => undefined, methods);
    }
    methods.add(method);
  }
}

/** Responds to OPTIONS on every known path, also to preflights, with the methods it has. */
export function respondToOptions(fastify: FastifyInstance, routes: RouteTable, corsOrigins: readonly string[]): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const allow = request.method === 'OPTIONS' ? routes.allowedMethods(request.url) : undefined;
    if (allow === undefined) {
      done();
      return;
    }
    if (allow.split(', ').includes('PATCH')) reply.header('accept-patch', ACCEPT_PATCH);
    void reply
      .code(204)
      .headers({ allow, ...preflightHeaders(corsOrigins, request.raw.headers, allow) })
      .send();
  });
}

/** Adds Deprecation, Sunset and the successor's Link to every response of a deprecated route. */
export function announceDeprecations(fastify: FastifyInstance, publicUrl: PublicUrl): void {
  fastify.decorateRequest('removedAt', undefined);
  fastify.addHook('onRoute', (route) => {
    const deprecation = route.config?.deprecation;
    if (!deprecation) return;
    route.config = { ...route.config, announcement: announcement(deprecation, publicUrl) };
    const announce: onRequestHookHandler = (request, reply, done) => {
      request.removedAt = deprecation.removedAt;
      reply.headers(announcementOf(request) ?? {});
      done();
    };
    route.onRequest = [announce, ...[route.onRequest ?? []].flat()];
  });
}

function announcement({ deprecatedAt, removedAt, successor }: Deprecation, publicUrl: PublicUrl) {
  return {
    deprecation: `@${String(deprecatedAt.getTime() / 1000)}`,
    sunset: removedAt.toUTCString(),
    link: `<${publicUrl.of(successor)}>; rel="successor-version"`,
  };
}

/** Responds with 410 to a deprecated operation from its `removedAt` on. */
@Injectable()
export class DeprecationGuard implements CanActivate {
  constructor(private readonly clock: Clock) {}

  canActivate(context: ExecutionContext): true {
    const [{ removedAt }] = context.getArgs<[FastifyRequest]>();
    if (removedAt && this.clock.now().getTime() >= removedAt.getTime()) throw new DomainError(OPERATION_REMOVED);
    return true;
  }
}
