import type { FastifyInstance } from 'fastify';
import { parseTraceParent } from './trace-parent.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Trace id of the caller, or of the trace that starts here. */
    traceId: string | undefined;
  }
}

/** Puts the request id on every response, and the caller's trace id on the request. */
export function identifyRequests(fastify: FastifyInstance): void {
  fastify.decorateRequest('traceId', undefined);
  fastify.addHook('onRequest', (request, reply, done) => {
    const { traceparent } = request.raw.headers;
    if (traceparent !== undefined) request.traceId ??= parseTraceParent(traceparent)?.traceId;
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    done();
  });
}
