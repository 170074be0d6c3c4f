import { Counter } from 'prom-client';
import type { Config } from '../config/config.js';
import type { ServiceLogger } from './logger.js';
import { Metrics } from './metrics.js';
import type { Tracing } from './tracing.js';

/** Created before the container, which writes to the log while it starts and whose instances are traced. */
export interface Observability {
  readonly logger: ServiceLogger;
  readonly metrics: Metrics;
  /** Undefined if no collector is configured. */
  readonly tracing: Tracing | undefined;
}

/** Starts tracing if a collector is configured. Otherwise, the OpenTelemetry SDK is not loaded. */
export async function startObservability(
  config: Pick<Config, 'otelExporterOtlpEndpoint' | 'otelTracesSamplerArg'>,
  logger: ServiceLogger,
): Promise<Observability> {
  const { otelExporterOtlpEndpoint: endpoint, otelTracesSamplerArg: sampledShare } = config;
  const metrics = new Metrics();
  new Counter({
    name: 'log_lines_dropped_total',
    help: 'Log lines that were dropped because standard output did not accept them.',
    registers: [metrics.registry],
    collect() {
      this.reset();
      this.inc(logger.output.dropped ?? 0);
    },
  });
  const tracing = endpoint === undefined ? undefined : new (await import('./tracing.js')).Tracing(endpoint, sampledShare, logger);
  return { logger, metrics, tracing };
}
