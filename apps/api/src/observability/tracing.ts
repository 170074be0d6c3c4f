import { randomUUID } from 'node:crypto';
import { type StatementInterceptor, withDeadline } from '@animal-store/database';
import { type Context, context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { parseTraceParent, setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, ParentBasedSampler, type Sampler, SamplingDecision, TracerProvider } from '@opentelemetry/sdk-trace';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

const LAST_EXPORT_TIMEOUT_MS = 2_000;

/** OpenTelemetry tracing of requests and statements. Loaded only if a collector is configured. */
export class Tracing {
  readonly interceptor: StatementInterceptor;
  private readonly provider: TracerProvider;
  private readonly tracer: Tracer;

  /** @param sampledShare from 0 to 1. A caller's `traceparent` can prevent the recording, but not force it */
  constructor(
    endpoint: string,
    sampledShare: number,
    private readonly logger: Logger,
  ) {
    setGlobalErrorHandler((error) => this.reportFailure(error));
    this.provider = new TracerProvider({
      resource: defaultResource()
        .merge(resourceFromAttributes({ 'service.name': 'animal-store', 'service.instance.id': randomUUID() }))
        // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.
        .merge(detectResources({ detectors: [envDetector] })),
      sampler: new ParentBasedSampler({ root: shareSampler(sampledShare), remoteParentSampled: shareSampler(sampledShare) }),
      spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }) })],
    });
    this.tracer = this.provider.getTracer('animal-store-api');
    this.interceptor = traceStatements(this.tracer);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager());
    trace.setGlobalTracerProvider(this.provider);
  }

  /** Creates a SERVER span for each request, without client data except the ids of `traceparent`. Exports the last ones on closing. */
  traceRequests(fastify: FastifyInstance): void {
    const spans = new WeakMap<FastifyRequest, Span>();

    fastify.addHook('onRequest', (request, _reply, done) => {
      const { method, raw } = request;
      const { url: route } = request.routeOptions;
      const parent = callerOf(request);
      const attributes = {
        'http.request.method': method,
        'url.scheme': request.protocol === 'https' ? 'https' : 'http',
        'network.protocol.version': raw.httpVersion,
        ...(route !== undefined && { 'http.route': route }),
      };
      const name = route === undefined ? method : `${method} ${route}`;
      const span = this.tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
      request.traceId = span.spanContext().traceId;
      spans.set(request, span);
      // Fastify preserves the context while it receives the body, whose events come from the socket.
      context.with(trace.setSpan(parent, span), done);
    });

    fastify.addHook('onResponse', (request, { statusCode }, done) => {
      const span = spans.get(request)?.setAttribute('http.response.status_code', statusCode);
      if (statusCode >= 500) span?.setAttribute('error.type', String(statusCode)).setStatus({ code: SpanStatusCode.ERROR });
      span?.end();
      done();
    });

    fastify.addHook('onClose', async () => {
      const exported = this.provider.shutdown().then(
        () => null,
        (error: unknown) => error,
      );
      const failure = await withDeadline(exported, LAST_EXPORT_TIMEOUT_MS);
      if (failure !== null) this.reportFailure(failure ?? new Error(`no response within ${LAST_EXPORT_TIMEOUT_MS} ms`));
      context.disable();
      trace.disable();
    });
  }

  private reportFailure(error: unknown): void {
    this.logger.warn({ reason: (error as Error).message }, 'traces are not exported');
  }
}

/** Returns a sampler that decides at random instead of by the trace id, which the caller chooses. */
function shareSampler(share: number): Sampler {
  return {
    shouldSample: () => ({ decision: Math.random() < share ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD }),
    toString: () => `ShareSampler{${share}}`,
  };
}

/** Returns a context with the caller's span, without `tracestate`: it may contain anything, and there is no service to forward it to. */
function callerOf({ raw }: FastifyRequest): Context {
  const parent = parseTraceParent(String(raw.headers['traceparent']));
  return parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }) : ROOT_CONTEXT;
}

const FIRST_WORD = /^\s*(\w+)/;

/** Returns an interceptor that creates a CLIENT span for each statement of a request, from the wait for a connection to the result. */
export function traceStatements(tracer: Tracer): StatementInterceptor {
  return ({ name, text, values }, run) => {
    if (!trace.getActiveSpan()) return run();
    const summary = name ?? FIRST_WORD.exec(text)?.[1]?.toUpperCase() ?? 'statement';
    // A text without parameters may contain values.
    const query = name !== undefined || values?.length ? { 'db.query.text': text.trim() } : {};
    const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': summary, ...query };
    const span = tracer.startSpan(summary, { kind: SpanKind.CLIENT, attributes });
    const result = context.with(trace.setSpan(context.active(), span), run);
    result.then(
      () => span.end(),
      // Without the message, which may contain input of a client.
      (error: unknown) => {
        const { code, name: type } = error as NodeJS.ErrnoException;
        span.setAttribute('error.type', code ?? type).setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    );
    return result;
  };
}
