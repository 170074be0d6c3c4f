import { randomUUID } from 'node:crypto';
import { context, trace, type Tracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, ParentBasedSampler, type Sampler, SamplingDecision, TracerProvider } from '@opentelemetry/sdk-trace';
import type { SecretUrl, StatementInterceptor } from '@animal-store/database';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { OutageLoggingExporter } from './outage-logging-exporter.js';
import { traceRequests } from './trace-requests.js';
import { traceStatements } from './trace-statements.js';
import { createUseCaseDecorator } from './trace-use-case.js';

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
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.logger.warn('the last traces were not exported in time');
        resolve();
      }, LAST_EXPORT_TIMEOUT_MS);
    });
    // OutageLoggingExporter reports failed exports.
    await Promise.race([this.provider.shutdown().catch(() => undefined), deadline]);
    clearTimeout(timer);
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
