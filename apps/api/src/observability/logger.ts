import { hostname } from 'node:os';
import { redactKeys } from '@animal-store/access-domain';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino } from 'pino';
import { BoundedOutput } from './bounded-output.js';
import { createBufferedDestination } from './buffered-destination.js';
import { LOG_FORMATS, type LogFormat, type LogFormatName } from './log-format.js';
import { createTerminalDestination } from './terminal-destination.js';

/** The token of the logger in Nest's container. */
export const LOGGER = Symbol('logger');

export interface ServiceLogger extends Logger {
  /** Accepts complete lines. */
  readonly destination: DestinationStream;
  readonly format: LogFormat;
  /** JSON text of the members of every line, without braces. */
  readonly base: string;
  /** Returns the number of lines that were dropped because the reader of standard output did not accept them. */
  readonly droppedLines: () => number;
  /** Waits until the reader of standard output has accepted all lines. The default is at most one second. */
  readonly flushed: (timeoutMs?: number) => Promise<void>;
}

const FLUSH_TIMEOUT_MS = 1_000;
const NOWHERE: DestinationStream = { write: () => undefined };

/** Creates the logger. Redacts API keys, and omits values of statements. Writes JSON, or lines for people on a terminal. */
export function createLogger(level: string, destination?: DestinationStream, formatName: LogFormatName = 'json'): ServiceLogger {
  const isForPeople = destination === undefined && process.stdout.isTTY;
  const format = LOG_FORMATS[isForPeople ? 'json' : formatName];
  const output = destination || level === 'silent' ? undefined : new BoundedOutput(process.stdout, reportDropped);
  const stream = destination ?? (output ? (isForPeople ? createTerminalDestination(output) : createBufferedDestination(output)) : NOWHERE);
  const base = { pid: process.pid, hostname: hostname(), ...format.constants };
  const options = {
    level,
    base,
    timestamp: format.time,
    messageKey: format.message,
    formatters: { level: format.level },
    serializers: { err: describeError },
    hooks: { streamWrite: redactKeys },
  };
  const logger = Object.assign(pino(options, stream), {
    destination: stream,
    format,
    base: JSON.stringify(base).slice(1, -1),
    droppedLines: () => output?.dropped ?? 0,
    flushed: async (timeoutMs = FLUSH_TIMEOUT_MS) => output?.flushed(timeoutMs),
  });
  return logger;

  function reportDropped(lines: number): void {
    logger.warn({ lines }, 'log lines were dropped because standard output did not accept them');
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
