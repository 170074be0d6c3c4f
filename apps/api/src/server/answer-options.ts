import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RouteTable } from './route-table.js';

/** Responds to OPTIONS on every known path with the methods it has. */
export function answerOptions(fastify: FastifyInstance, routes: RouteTable): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const allow = request.method === 'OPTIONS' && !isPreflight(request) ? routes.allowedMethods(request.url) : undefined;
    if (allow === undefined) done();
    else void reply.code(204).header('Allow', allow).send();
  });
}

/** Left to @fastify/cors where origins are configured; elsewhere it is an OPTIONS like any other. */
function isPreflight({ raw, server }: FastifyRequest): boolean {
  return raw.headers['access-control-request-method'] !== undefined && server.hasRequestDecorator('corsPreflightEnabled');
}
