import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { redactKeys } from '@animal-store/access-domain';
import type { FastifyInstance } from 'fastify';

const REQUEST_ID = /^[!-~]{1,128}$/;
const TRACE_PARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** The schema of the header in the OpenAPI document. */
export const REQUEST_ID_SCHEMA = { type: 'string', pattern: REQUEST_ID.source } as const;

declare module 'fastify' {
  interface FastifyRequest {
    /** Trace id of the caller, or of the trace that starts here. */
    traceId: string | undefined;
  }
}

export function newRequestId(): string {
  return randomUUID();
}

/** Returns the caller's X-Request-Id if it is 1 to 128 visible ASCII characters without an API key, otherwise a generated one. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) && redactKeys(given) === given ? given : newRequestId();
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

/** The caller's span from its `traceparent` header (W3C Trace Context, level 1). */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

/** Parses a `traceparent` field. Returns undefined if it is invalid or repeated. Ignores additions of later versions. */
export function parseTraceParent(field: string | readonly string[] | undefined): TraceParent | undefined {
  if (typeof field !== 'string') return undefined;
  const [, version, traceId, spanId, flags = '', more] = TRACE_PARENT.exec(field) ?? [];
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}
