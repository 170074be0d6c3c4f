import { createRequire } from 'node:module';
import { redactKeys } from '@animal-store/access-domain';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { PrettyOptions } from 'pino-pretty';
import { LogOutput } from './log-output.js';

/** The token of the logger in Nest's container. */
export const LOGGER = Symbol('logger');

export interface ServiceLogger extends Logger {
  /** Accepts complete lines. The service's own output counts the lines that it drops. */
  readonly output: DestinationStream & Partial<Pick<LogOutput, 'dropped' | 'flushed'>>;
}

const NOWHERE: DestinationStream = { write: () => undefined };

/** Creates the logger. Redacts API keys, and omits values of statements. Without `destination`, writes to standard output. */
export function createLogger(level: string, destination = level === 'silent' ? NOWHERE : undefined): ServiceLogger {
  const output = destination ?? readableOutput() ?? new LogOutput();
  return Object.assign(pino({ level, serializers: { err: describeError }, hooks: { streamWrite: redactKeys } }, output), { output });
}

/** Returns a stream that writes readable lines to the terminal in development, where pino-pretty is installed. */
function readableOutput(): DestinationStream | undefined {
  if (!process.stdout.isTTY) return undefined;
  try {
    const pretty = createRequire(import.meta.url)('pino-pretty') as (options: PrettyOptions) => DestinationStream;
    return pretty({ sync: true, singleLine: true, ignore: 'pid,hostname,requestId,traceId,clientId,keyId,operation' });
  } catch {
    return undefined;
  }
}

const MAX_CAUSES = 10;

/** Returns the members of an error to log, without parameters of statements and the row that PostgreSQL reports. Never throws. */
function describeError(error: unknown): unknown {
  try {
    return Error.isError(error) ? membersOf(error) : error;
  } catch {
    return 'An error without a description.';
  }
}

function membersOf(error: Error, causes = 0): object {
  const { message, stack, cause, code, constraint } = error as Error & Readonly<Record<'code' | 'constraint', unknown>>;
  const inner = Error.isError(cause) ? causes < MAX_CAUSES && membersOf(cause, causes + 1) : cause;
  const type = (error.constructor as { name?: unknown } | undefined)?.name;
  return { type, message, stack, code, constraint, ...(inner !== undefined && inner !== false && { cause: inner }) };
}

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
