import { randomUUID } from 'node:crypto';
import { context, trace, type Tracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, ParentBasedSampler, type Sampler, SamplingDecision, TracerProvider } from '@opentelemetry/sdk-trace';
import type { INestApplicationContext } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';
import { OutageLog } from './outage-log.js';
import { traceRequests } from './trace-requests.js';
import { traceStatements } from './trace-statements.js';
import { traceUseCases } from './trace-use-cases.js';

/** The end of the process waits no longer for a collector. */
const LAST_EXPORT_MS = 2_000;

export interface TracingOptions {
  /** Of the collector, without /v1/traces. */
  readonly endpoint: string;
  readonly serviceName: string;
  /** Of all traces, from 0 to 1. A caller's `traceparent` can prevent the recording, but not force it. */
  readonly sampledShare: number;
  readonly logger: Logger;
}

/**
 * OpenTelemetry, with spans made by hand. Only `createApp` imports this file, and only when a collector is configured. Libraries may
 * add spans of their own by `@opentelemetry/api`.
 */
export class Tracing {
  private readonly provider: TracerProvider;
  private readonly tracer: Tracer;
  private readonly logger: Logger;

  constructor({ endpoint, serviceName, sampledShare, logger }: TracingOptions) {
    const exporter = new OutageLog(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }), logger);
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

  /** Before any other hook is added. The last spans are exported when the last request has been answered. */
  observeRequests(fastify: FastifyInstance): void {
    traceRequests(fastify, this.tracer);
    fastify.addHook('onClose', () => this.stop());
  }

  /** Of a connected DataSource. */
  observeStatements(dataSource: DataSource): void {
    traceStatements(dataSource, this.tracer);
  }

  /** Of an initialised app. */
  observeUseCases(app: INestApplicationContext): void {
    traceUseCases(app, this.tracer);
  }

  private async stop(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.logger.warn('the last traces were not exported in time');
        resolve();
      }, LAST_EXPORT_MS);
    });
    // What fails is logged where it is exported.
    await Promise.race([this.provider.shutdown().catch(() => undefined), deadline]);
    clearTimeout(timer);
    context.disable();
    trace.disable();
  }
}

/** Decides at random and not by the trace id: a caller chooses that. */
function shareSampler(share: number): Sampler {
  return {
    shouldSample: () => ({ decision: Math.random() < share ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD }),
    toString: () => `ShareSampler{${share}}`,
  };
}
