import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { inspect } from 'node:util';
import { redactKeys } from '@animal-store/access-domain';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Level, type Logger, type LoggerOptions, pino } from 'pino';
import type { PrettyOptions } from 'pino-pretty';
import { LogOutput } from './log-output.js';

export const LOGGER = Symbol('logger');

export interface ServiceLogger extends Logger {
  /** Accepts complete lines. The service's own output counts the lines that it drops. */
  readonly output: DestinationStream & Partial<Pick<LogOutput, 'dropped' | 'flushed'>>;
}

/** The id of the request in progress, which each of its log lines has. */
export const requestIds = new AsyncLocalStorage<string>();

const NOWHERE: DestinationStream = { write: () => undefined };

/** Creates the logger. Redacts API keys, and omits values of statements. Without `destination`, writes to standard output. */
export function createLogger(level: string, destination = level === 'silent' ? NOWHERE : undefined): ServiceLogger {
  const output = destination ?? readableOutput() ?? new LogOutput();
  const options: LoggerOptions = {
    level,
    serializers: { err: toLoggable },
    // Pino has serializers only for fields whose name it knows.
    formatters: { log: (fields) => Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, toLoggable(value)])) },
    mixin: () => ({ requestId: requestIds.getStore() }),
    hooks: { streamWrite: redactKeys },
  };
  return Object.assign(pino(options, output), { output });
}

/** Returns a stream that writes readable lines to the terminal in development, where pino-pretty is installed. */
function readableOutput(): DestinationStream | undefined {
  if (!process.stdout.isTTY) return undefined;
  try {
    const pretty = createRequire(import.meta.url)('pino-pretty') as (options: PrettyOptions) => DestinationStream;
    return pretty({ sync: true, singleLine: true, ignore: 'pid,hostname,traceId,clientId,keyId,operation' });
  } catch {
    return undefined;
  }
}

/** Of one line: the error, its causes, and the errors of an AggregateError. */
const MAX_ERRORS = 10;

/** Returns the members of an error to log, without parameters of statements and the row that PostgreSQL reports. Never throws. */
function toLoggable(error: unknown): unknown {
  try {
    return Error.isError(error) ? membersOf(error) : error;
  } catch {
    return 'An error without a description.';
  }
}

function membersOf(error: Error, budget = { errors: MAX_ERRORS }): object {
  const { message, stack, cause, code, constraint, errors } = error as Error & Readonly<Record<'code' | 'constraint' | 'errors', unknown>>;
  const type = (error.constructor as { name?: unknown } | undefined)?.name;
  const describe = (inner: unknown) => (budget.errors-- > 1 ? membersOf(inner as Error, budget) : undefined);
  return {
    ...{ type, message, stack, code, constraint },
    cause: Error.isError(cause) ? describe(cause) : cause,
    errors: Array.isArray(errors) ? errors.filter((inner) => Error.isError(inner)).map(describe) : undefined,
  };
}

/** What Nest logs while it starts. */
const NEST = new Set(['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication']);
const STACK = /\n\s+at /;

/** Returns the target of Nest's `Logger`: texts become the message, objects become fields, and an error becomes the field `err`. */
export function createNestLogger(logger: Logger): LoggerService {
  const at =
    (level: Level) =>
    (...values: unknown[]) => {
      const last = values.at(-1);
      const context = values.length > 1 && typeof last === 'string' ? last : undefined;
      const fields: Record<string, unknown> = { context };
      const texts: string[] = [];
      for (const value of context === undefined ? values : values.slice(0, -1)) {
        if (Error.isError(value)) fields['err'] = value;
        else if (typeof value === 'string' && STACK.test(value)) fields['stack'] = value;
        else if (isRecord(value)) Object.assign(fields, value);
        else if (value !== undefined) texts.push(typeof value === 'string' ? value : inspect(value, { breakLength: Infinity }));
      }
      if (texts.length === 0 && Error.isError(fields['err'])) texts.push(fields['err'].message);
      logger[context !== undefined && NEST.has(context) && level === 'info' ? 'debug' : level](fields, texts.join(' '));
    };
  return { log: at('info'), warn: at('warn'), error: at('error'), fatal: at('fatal'), debug: at('debug'), verbose: at('trace') };
}

const isRecord = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
