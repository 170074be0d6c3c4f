import { randomUUID } from 'node:crypto';
import { parseDatabaseUrl, readSecretUrl, type SecretUrl, type StatementInterceptor } from '@animal-store/database';
import {
  type Attributes,
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
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { withDeadline } from './deadline.js';
import { parseTraceParent } from './identify-requests.js';
import { runInSpan } from './run-in-span.js';

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

/**
 * OpenTelemetry tracing without auto-instrumentation. `startObservability` imports this file only if a collector is configured. Libraries may
 * add spans through `@opentelemetry/api`.
 */
export class Tracing {
  private readonly provider: TracerProvider;
  private readonly tracer: Tracer;
  private readonly logger: Logger;

  constructor({ endpoint, serviceName, sampledShare, logger }: TracingOptions) {
    const exporter = new OutageLoggingExporter(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }), logger);
    this.provider = new TracerProvider({
      resource: defaultResource()
        .merge(detectResources({ detectors: [envDetector] }))
        .merge(resourceFromAttributes({ 'service.name': serviceName, 'service.instance.id': randomUUID() })),
      sampler: new ParentBasedSampler({ root: shareSampler(sampledShare), remoteParentSampled: shareSampler(sampledShare) }),
      spanProcessors: [new BatchSpanProcessor({ exporter })],
    });
    this.tracer = this.provider.getTracer('animal-store-api');
    this.logger = logger;
    context.setGlobalContextManager(new AsyncLocalStorageContextManager());
    trace.setGlobalTracerProvider(this.provider);
  }

  /** Call before any hook that may reject a request is added. The last spans are exported when the server closes. */
  traceRequests(fastify: FastifyInstance): void {
    traceRequests(fastify, this.tracer);
    fastify.addHook('onClose', () => this.stop());
  }

  /** Returns the `interceptor` of a Database. */
  statementInterceptor(url: SecretUrl): StatementInterceptor {
    return traceStatements(url, this.tracer);
  }

  /** Returns the `instanceDecorator` of a Nest app. */
  useCaseDecorator(): (instance: unknown) => unknown {
    return createUseCaseDecorator(this.tracer);
  }

  private async stop(): Promise<void> {
    // Failed exports have been logged.
    const ended = Promise.allSettled([this.provider.shutdown()]);
    if (!(await withDeadline(ended, LAST_EXPORT_TIMEOUT_MS))) this.logger.warn('the last traces were not exported in time');
    context.disable();
    trace.disable();
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

const FIRST_WORD = /^\s*(\w+)/;

/** Returns an interceptor that creates a CLIENT span for each statement, from the wait for a connection to the result. */
export function traceStatements(url: SecretUrl, tracer: Tracer): StatementInterceptor {
  let target: ReturnType<typeof describeTarget> | undefined;
  return ({ name, text, values, isReplicable }, run) => {
    target ??= describeTarget(url);
    const summary = name ?? FIRST_WORD.exec(text)?.[1]?.toUpperCase() ?? 'statement';
    // A text without parameters may contain values.
    const isParametrised = name !== undefined || (values !== undefined && values.length > 0);
    const attributes = {
      ...target.database,
      // The replica that runs a statement is not known in advance.
      ...(!isReplicable && target.server),
      'db.query.summary': summary,
      ...(isParametrised && { 'db.query.text': text.trim() }),
    };
    return runInSpan(tracer, summary, { kind: SpanKind.CLIENT, attributes }, run);
  };
}

/** Returns the attributes of the database and its server. Of several servers, the pool chooses one per connection, so they have none. */
function describeTarget(url: SecretUrl): { readonly database: Attributes; readonly server: Attributes } {
  const { servers, database } = parseDatabaseUrl(readSecretUrl(url));
  const [server, ...others] = servers;
  return {
    database: { 'db.system.name': 'postgresql', ...(database !== undefined && { 'db.namespace': database }) },
    server: others.length === 0 ? { 'server.address': server.host, 'server.port': server.port } : {},
  };
}

interface UseCase {
  execute: (...args: readonly unknown[]) => unknown;
}

/**
 * Returns the `instanceDecorator` of Nest that creates an INTERNAL span, named after the class, for each call of `execute` of a provider.
 * It returns other instances unchanged.
 */
export function createUseCaseDecorator(tracer: Tracer): (instance: unknown) => unknown {
  const decorated = new WeakSet<object>();
  return (instance) => {
    // Nest also decorates the instances that an alias or a factory returns.
    if (!isUseCase(instance) || decorated.has(instance)) return instance;
    const traced = traceUseCase(instance, tracer);
    decorated.add(traced);
    return traced;
  };
}

function traceUseCase(useCase: UseCase, tracer: Tracer): UseCase {
  const { name } = useCase.constructor;
  const options = { attributes: { 'code.function.name': `${name}.execute` } };
  const execute: UseCase['execute'] = (...args) => runInSpan(tracer, name, options, () => useCase.execute(...args));
  return new Proxy(useCase, {
    get: (target, property): unknown => (property === 'execute' ? execute : Reflect.get(target, property)),
  });
}

function isUseCase(instance: unknown): instance is UseCase {
  return typeof instance === 'object' && instance !== null && typeof (instance as Partial<UseCase>).execute === 'function';
}

type Export = SpanExporter['export'];

/** Wraps an exporter and logs once when exports start to fail, and once when they succeed again. */
export class OutageLoggingExporter implements SpanExporter {
  private isFailing = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly logger: Logger,
  ) {}

  export(spans: Parameters<Export>[0], done: Parameters<Export>[1]): void {
    this.exporter.export(spans, (result) => {
      this.report(result.code !== 0, result.error);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  private report(isFailing: boolean, error: Error | undefined): void {
    if (isFailing === this.isFailing) return;
    this.isFailing = isFailing;
    if (isFailing) this.logger.warn({ reason: error?.message }, 'traces are not exported');
    else this.logger.info('traces are exported again');
  }
}
