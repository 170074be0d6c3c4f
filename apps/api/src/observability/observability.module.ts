import { type DynamicModule, Global, Module } from '@nestjs/common';
import { createLogger, type LogFormatName, LOGGER, type ServiceLogger } from './logger.js';
import { Metrics } from './metrics.js';
import type { Tracing } from './tracing.js';

/** Created before the container, which writes to the log while it starts and whose instances are traced. */
export interface Observability {
  readonly logger: ServiceLogger;
  readonly metrics: Metrics;
  /** Undefined if no collector is configured. */
  readonly tracing: Tracing | undefined;
}

/** Logs and metrics. */
@Global()
@Module({})
export class ObservabilityModule {
  static forRoot({ logger, metrics }: Observability): DynamicModule {
    metrics.observeLog(logger.droppedLines);
    return {
      module: ObservabilityModule,
      providers: [
        { provide: LOGGER, useValue: logger },
        { provide: Metrics, useValue: metrics },
      ],
      exports: [LOGGER, Metrics],
    };
  }
}

export interface ObservabilityOptions {
  readonly logLevel: string;
  readonly logFormat: LogFormatName;
  readonly otelExporterOtlpEndpoint: string | undefined;
  readonly otelServiceName: string;
  readonly otelTracesSamplerArg: number;
}

/** Starts tracing if a collector is configured. Otherwise, the OpenTelemetry SDK is not loaded. */
export async function startObservability(
  {
    logLevel,
    logFormat,
    otelExporterOtlpEndpoint: endpoint,
    otelServiceName: serviceName,
    otelTracesSamplerArg: sampledShare,
  }: ObservabilityOptions,
  logger = createLogger(logLevel, undefined, logFormat),
): Promise<Observability> {
  const metrics = new Metrics();
  if (endpoint === undefined) return { logger, metrics, tracing: undefined };
  const { Tracing } = await import('./tracing.js');
  return { logger, metrics, tracing: new Tracing({ endpoint, serviceName, sampledShare, logger }) };
}
