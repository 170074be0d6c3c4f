import type { FastifyInstance } from 'fastify';
import FindMyWay, { type Instance } from 'find-my-way';
import { ACCEPT_PATCH } from '../errors/http-errors.js';
import { preflightHeaders } from './cors.js';

/** The methods of each known path, for 405, OPTIONS and Allow. Fastify only reports whether method and path match together. */
export class RouteTable {
  readonly methods = new Map<string, Set<string>>();
  private readonly router: Instance<FindMyWay.HTTPVersion.V1> = FindMyWay({ maxParamLength: Number.MAX_SAFE_INTEGER });

  /** Call before any route is registered. */
  recordRoutesOf(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', ({ method, url }) => {
      const methods = this.methods.get(url) ?? new Set<string>();
      if (!this.methods.has(url)) this.router.on('GET', url, () => undefined, methods);
      this.methods.set(url, methods);
      for (const one of [method].flat()) methods.add(one);
    });
  }

  /** Responds to OPTIONS on every known path, also to preflights, with the methods it has. */
  respondToOptions(fastify: FastifyInstance, corsOrigins: readonly string[]): void {
    fastify.addHook('onRequest', (request, reply, done) => {
      const allow = request.method === 'OPTIONS' ? this.allowedMethods(request.url) : undefined;
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

  /** Returns the value of Allow, or undefined for an unknown path. */
  allowedMethods(requestUrl: string): string | undefined {
    const path = requestUrl.split('?', 1)[0] ?? '/';
    // The server in general (RFC 9110, section 9.3.7).
    if (path === '*') return [...new Set([...this.methods.values()].flatMap((methods) => [...methods])), 'OPTIONS'].join(', ');
    const found = this.router.find('GET', path);
    // Nest does not match a route if a path parameter is empty.
    if (!found || Object.values(found.params).includes('')) return undefined;
    return [...(found.store as Set<string>), 'OPTIONS'].join(', ');
  }
}
