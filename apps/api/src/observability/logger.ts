import { redactKeys } from '@animal-store/access-domain';
import { type DestinationStream, type Logger, pino } from 'pino';
import { bufferedLines } from './buffered-lines.js';
import { terminalLines } from './terminal-lines.js';

export interface ServiceLogger extends Logger {
  /** Takes whole lines. */
  readonly destination: DestinationStream;
}

const NOWHERE: DestinationStream = { write: () => undefined };

/** The only way to a log line: no API key gets past it, wherever a line has it from, and no value of a statement. JSON, unless a person reads it. */
export function createLogger(level: string, destination = level === 'silent' ? NOWHERE : stdout()): ServiceLogger {
  const options = { level, serializers: { err: describeError }, hooks: { streamWrite: redactKeys } };
  return Object.assign(pino(options, destination), { destination });
}

function stdout(): DestinationStream {
  return process.stdout.isTTY ? terminalLines(process.stdout) : bufferedLines(process.stdout);
}

/** What of an error helps to find its cause. Left out are the parameters of a statement, and the row that PostgreSQL shows. */
function describeError(error: unknown): unknown {
  if (!Error.isError(error)) return error;
  const { message, stack, cause, code, constraint } = error as Error & Readonly<Record<'code' | 'constraint', unknown>>;
  return { type: error.constructor.name, message, stack, code, constraint, ...(cause !== undefined && { cause: describeError(cause) }) };
}
