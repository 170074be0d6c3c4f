import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';

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
