import { randomUUID } from 'node:crypto';
import type { StatementInterceptor } from '@animal-store/database';
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
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, ParentBasedSampler, type Sampler, SamplingDecision, TracerProvider } from '@opentelemetry/sdk-trace';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { withDeadline } from './deadline.js';
import { parseTraceParent } from './identify-requests.js';

/** Timeout of the last export, before the process ends. */
const LAST_EXPORT_TIMEOUT_MS = 2_000;

export interface TracingOptions {
  /** URL of the collector, without /v1/traces. */
  readonly endpoint: string;
  readonly serviceName: string;
  /** Share of the traces that are recorded, 0 to 1. A caller's `traceparent` can prevent the recording, but not force it. */
  readonly sampledShare: number;
  readonly logger: Logger;
}

/** OpenTelemetry tracing of requests and statements. Loaded only if a collector is configured. */
export class Tracing {
  /** The `interceptor` of a Database. */
  readonly interceptor: StatementInterceptor;
  private readonly provider: TracerProvider;
  private readonly tracer: Tracer;

  constructor(private readonly options: TracingOptions) {
    const { endpoint, serviceName, sampledShare } = options;
    setGlobalErrorHandler((error) => this.reportFailure(error));
    this.provider = new TracerProvider({
      resource: defaultResource()
        .merge(detectResources({ detectors: [envDetector] }))
        .merge(resourceFromAttributes({ 'service.name': serviceName, 'service.instance.id': randomUUID() })),
      sampler: new ParentBasedSampler({ root: shareSampler(sampledShare), remoteParentSampled: shareSampler(sampledShare) }),
      spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }) })],
    });
    this.tracer = this.provider.getTracer('animal-store-api');
    this.interceptor = traceStatements(this.tracer);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager());
    trace.setGlobalTracerProvider(this.provider);
  }

  /** Call before any hook that may reject a request is added. The last spans are exported when the server closes. */
  traceRequests(fastify: FastifyInstance): void {
    traceRequests(fastify, this.tracer);
    fastify.addHook('onClose', async () => {
      const exported = this.provider.shutdown().catch((error: unknown) => this.reportFailure(error));
      await withDeadline(exported, LAST_EXPORT_TIMEOUT_MS);
      context.disable();
      trace.disable();
    });
  }

  private reportFailure(error: unknown): void {
    this.options.logger.warn({ reason: (error as Error).message }, 'traces are not exported');
  }
}

/** Returns a sampler that decides at random instead of by the trace id, which the caller chooses. */
function shareSampler(share: number): Sampler {
  return {
    shouldSample: () => ({ decision: Math.random() < share ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD }),
    toString: () => `ShareSampler{${share}}`,
  };
}

/** Creates a SERVER span for each request, before any hook that may reject it. The span contains no client data except the ids of `traceparent`. */
function traceRequests(fastify: FastifyInstance, tracer: Tracer): void {
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

const FIRST_WORD = /^\s*(\w+)/;

/** Returns an interceptor that creates a CLIENT span for each statement, from the wait for a connection to the result. */
export function traceStatements(tracer: Tracer): StatementInterceptor {
  return ({ name, text, values }, run) => {
    const summary = name ?? FIRST_WORD.exec(text)?.[1]?.toUpperCase() ?? 'statement';
    // A text without parameters may contain values.
    const isParametrised = name !== undefined || (values !== undefined && values.length > 0);
    const attributes = {
      'db.system.name': 'postgresql',
      'db.query.summary': summary,
      ...(isParametrised && { 'db.query.text': text.trim() }),
    };
    const span = tracer.startSpan(summary, { kind: SpanKind.CLIENT, attributes });
    const result = context.with(trace.setSpan(context.active(), span), run);
    Promise.resolve(result).then(
      () => span.end(),
      // Without the message, which may contain input of a client.
      (error: unknown) => span.setAttribute('error.type', errorType(error)).setStatus({ code: SpanStatusCode.ERROR }).end(),
    );
    return result;
  };
}

function errorType(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return String(code ?? name);
}
