import { hostname } from 'node:os';
import { redactKeys } from '@animal-store/access-domain';
import { type DestinationStream, type Logger, pino } from 'pino';
import { createBufferedDestination } from './buffered-destination.js';
import { LOG_FORMATS, type LogFormat, type LogFormatName } from './log-format.js';
import { createTerminalDestination } from './terminal-destination.js';

export interface ServiceLogger extends Logger {
  /** Accepts complete lines. */
  readonly destination: DestinationStream;
  readonly format: LogFormat;
  /** JSON text of the members of every line, without braces. */
  readonly base: string;
}

const NOWHERE: DestinationStream = { write: () => undefined };

/** Creates the logger. Redacts API keys, and omits values of statements. Writes JSON, or lines for people on a terminal. */
export function createLogger(level: string, destination?: DestinationStream, formatName: LogFormatName = 'json'): ServiceLogger {
  const isForPeople = destination === undefined && process.stdout.isTTY;
  const format = LOG_FORMATS[isForPeople ? 'json' : formatName];
  const stream =
    destination ??
    (level === 'silent' ? NOWHERE : isForPeople ? createTerminalDestination(process.stdout) : createBufferedDestination(process.stdout));
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
  return Object.assign(pino(options, stream), { destination: stream, format, base: JSON.stringify(base).slice(1, -1) });
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
