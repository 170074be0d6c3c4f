import type { StatementInterceptor } from '@animal-store/database';
import { Counter } from 'prom-client';
import type { Config } from '../config/config.js';
import { requestIds, type ServiceLogger } from './logger.js';
import { Metrics } from './metrics.js';

export type Observability = Awaited<ReturnType<typeof startObservability>>;

/** Without a collector, `tracing` is undefined, and the OpenTelemetry SDK is not loaded. `interceptor` is that of a Database. */
export async function startObservability(
  config: Pick<Config, 'logSql' | 'otelExporterOtlpEndpoint' | 'otelTracesSamplerArg'>,
  logger: ServiceLogger,
) {
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
  const traced = tracing?.interceptor ?? ((_statement, run) => run());
  return { logger, metrics, tracing, interceptor: measureStatements(metrics, config.logSql ? logStatements(logger, traced) : traced) };
}

/** Measures prepared statements, whether they succeed or fail, from the wait for a connection to the last row. */
function measureStatements(metrics: Metrics, intercept: StatementInterceptor): StatementInterceptor {
  return (statement, run) => {
    const { name, batchSize = 1 } = statement;
    const startedAt = performance.now();
    const result = intercept(statement, run);
    if (name === undefined) return result;
    const measure = () => {
      metrics.statementDurations.observe({ statement: name }, (performance.now() - startedAt) / 1000);
      metrics.statementBatches.observe({ statement: name }, batchSize);
    };
    result.then(measure, measure);
    return result;
  };
}

/** Quoted names, comments and quoted values. */
const QUOTED = /"[^"]*"|--.*|\/\*[^]*?\*\/|\bE'(?:[^'\\]|''|\\[^])*'?|'[^']*'?|(\$(?:[a-z_]\w*)?\$)[^]*?(?:\1|$)/gi;

/** Logs the text and the duration of each statement of a request, without parameters, and without quoted values, which may be secrets. */
function logStatements(logger: ServiceLogger, intercept: StatementInterceptor): StatementInterceptor {
  return (statement, run) => {
    const result = intercept(statement, run);
    if (requestIds.getStore() === undefined) return result;
    const startedAt = performance.now();
    const sql = statement.text.replaceAll(QUOTED, (text) => (/^(?:["-]|\/)/.test(text) ? text : "'…'")).trim();
    const log = () => logger.info({ sql, durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000 }, 'statement');
    result.then(log, log);
    return result;
  };
}
