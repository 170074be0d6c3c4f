import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ACCEPT_PATCH } from '../errors/http-errors.js';
import type { RouteTable } from './route-table.js';

/** Responds to OPTIONS on every known path with the methods it has. */
export function respondToOptions(fastify: FastifyInstance, routes: RouteTable): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const allow = request.method === 'OPTIONS' && !isPreflight(request) ? routes.allowedMethods(request.url) : undefined;
    if (allow === undefined) {
      done();
      return;
    }
    if (allow.split(', ').includes('PATCH')) reply.header('accept-patch', ACCEPT_PATCH);
    void reply.code(204).header('allow', allow).send();
  });
}

/** Returns whether @fastify/cors responds to the request. It is only registered if origins are configured. */
function isPreflight({ raw, server }: FastifyRequest): boolean {
  return raw.headers['access-control-request-method'] !== undefined && server.hasRequestDecorator('corsPreflightEnabled');
}
