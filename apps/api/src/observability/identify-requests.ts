import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { redactKeys } from '@animal-store/access-domain';
import type { FastifyInstance } from 'fastify';

const REQUEST_ID = /^[!-~]{1,128}$/;
/** https://www.w3.org/TR/trace-context/. Later versions may add parts. */
const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

/** The schema of the header in the OpenAPI document. */
export const REQUEST_ID_SCHEMA = { type: 'string', pattern: REQUEST_ID.source } as const;

declare module 'fastify' {
  interface FastifyRequest {
    /** Trace id of the caller, or of the trace that starts here. */
    traceId: string | undefined;
  }
}

/** Returns the caller's X-Request-Id if it is 1 to 128 visible ASCII characters without an API key, otherwise a generated one. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) && redactKeys(given) === given ? given : randomUUID();
}

/** Puts the request id on every response, and the caller's trace id on the request. */
export function identifyRequests(fastify: FastifyInstance): void {
  fastify.decorateRequest('traceId', undefined);
  fastify.addHook('onRequest', (request, reply, done) => {
    const { traceparent } = request.raw.headers;
    if (typeof traceparent === 'string') request.traceId ??= TRACE_PARENT.exec(traceparent)?.[1];
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    done();
  });
}
