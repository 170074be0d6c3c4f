import type { LoggerService } from '@nestjs/common';
import type { Logger } from 'pino';

/** Logs warnings and errors of Nest, and drops the messages about its start. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(): void {
    // Intentionally empty.
  }

  warn(message: unknown, context?: string): void {
    this.logger.warn({ context }, String(message));
  }

  error(message: unknown, stack?: string, context?: string): void {
    this.logger.error({ context, stack }, String(message));
  }

  fatal(message: unknown, context?: string): void {
    this.logger.fatal({ context }, String(message));
  }
}
