import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { redactKeys } from '@animal-store/access-domain';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import type { PrettyOptions } from 'pino-pretty';
import { LogOutput } from './log-output.js';

export type LogFormatName = 'json' | 'gcp' | 'ecs';

/** How level, time and message are written, and constant members. All other members of log lines are the same in every format. */
interface LogFormat {
  readonly level: (label: string, value: number) => Readonly<Record<string, string | number>>;
  /** Returns JSON text that begins with a comma. */
  readonly time: () => string;
  readonly message: string;
  /** Members of every line. */
  readonly constants: Readonly<Record<string, string>>;
}

/** https://cloud.google.com/logging/docs/reference/v2/rest/v2/LogEntry#LogSeverity */
const SEVERITIES: Readonly<Record<string, string>> = { fatal: 'CRITICAL', error: 'ERROR', warn: 'WARNING', info: 'INFO' };
const ECS_VERSION = '8.11.0';

export const LOG_FORMATS: Readonly<Record<LogFormatName, LogFormat>> = {
  json: { level: (_label, value) => ({ level: value }), time: stdTimeFunctions.epochTime, message: 'msg', constants: {} },
  /** https://cloud.google.com/logging/docs/structured-logging */
  gcp: {
    level: (label) => ({ severity: SEVERITIES[label] ?? 'DEBUG' }),
    time: stdTimeFunctions.isoTime,
    message: 'message',
    constants: {},
  },
  /** https://www.elastic.co/docs/reference/ecs/logging/spec */
  ecs: {
    level: (label) => ({ 'log.level': label }),
    time: () => `,"@timestamp":"${new Date(Date.now()).toISOString()}"`,
    message: 'message',
    constants: { 'ecs.version': ECS_VERSION },
  },
};

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

/** Creates the logger. Redacts API keys, and omits values of statements. Without `destination`, writes to standard output. */
export function createLogger(level: string, destination?: DestinationStream, formatName: LogFormatName = 'json'): ServiceLogger {
  const readable = destination === undefined && process.stdout.isTTY ? readableOutput() : undefined;
  const output = destination || readable || level === 'silent' ? undefined : new LogOutput();
  const stream = destination ?? readable ?? output ?? NOWHERE;
  const format = LOG_FORMATS[readable ? 'json' : formatName];
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
  return Object.assign(pino(options, stream), {
    destination: stream,
    format,
    base: JSON.stringify(base).slice(1, -1),
    droppedLines: () => output?.dropped ?? 0,
    flushed: async (timeoutMs = FLUSH_TIMEOUT_MS) => output?.flushed(timeoutMs),
  });
}

/** Returns a stream that writes readable lines to the terminal in development, where pino-pretty is installed. */
function readableOutput(): DestinationStream | undefined {
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
