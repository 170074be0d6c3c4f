import {
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseTraceParent } from './identify-requests.js';

/** Creates a SERVER span for each request, before any hook that may reject it. The span contains no client data except the ids of `traceparent`. */
export function traceRequests(fastify: FastifyInstance, tracer: Tracer): void {
  const spans = new WeakMap<FastifyRequest, Span>();

  fastify.addHook('onRequest', (request, _reply, done) => {
    const { method } = request;
    const { url: route } = request.routeOptions;
    const parent = callerOf(request);
    const span = tracer.startSpan(
      route === undefined ? method : `${method} ${route}`,
      {
        kind: SpanKind.SERVER,
        attributes: {
          'http.request.method': method,
          'url.scheme': request.protocol === 'https' ? 'https' : 'http',
          'network.protocol.version': request.raw.httpVersion,
          ...(route !== undefined && { 'http.route': route }),
        },
      },
      parent,
    );
    request.traceId = span.spanContext().traceId;
    spans.set(request, span);
    // Fastify preserves the context while it receives the body, whose events come from the socket.
    context.with(trace.setSpan(parent, span), done);
  });

  fastify.addHook('onResponse', (request, reply, done) => {
    const span = spans.get(request);
    const { statusCode } = reply;
    if (!reply.raw.writableFinished) {
      span?.setAttribute('error.type', 'client_disconnected');
    } else {
      span?.setAttribute('http.response.status_code', statusCode);
      if (statusCode >= 500) span?.setAttribute('error.type', String(statusCode)).setStatus({ code: SpanStatusCode.ERROR });
    }
    span?.end();
    done();
  });
}

/** Returns a context with the caller's span, without `tracestate`: it may contain anything, and there is no service to forward it to. */
function callerOf({ raw }: FastifyRequest): Context {
  const parent = parseTraceParent(raw.headers['traceparent']);
  if (!parent) return ROOT_CONTEXT;
  const { traceId, spanId, sampled } = parent;
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}
