import { type DestinationStream, type Logger, pino } from 'pino';
import { redactKeys } from './redact-keys.js';

/** The only way to a log line: no API key gets past it, wherever a line has it from, and no value of a statement. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = { level, serializers: { err: describeError }, hooks: { streamWrite: redactKeys } };
  return destination ? pino(options, destination) : pino(options);
}

/** What of an error helps to find its cause. Left out are the parameters of a statement, and the row that PostgreSQL shows. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { message, stack, cause, code, constraint } = error as Error & Readonly<Record<'code' | 'constraint', unknown>>;
  return { type: error.constructor.name, message, stack, code, constraint, ...(cause !== undefined && { cause: describeError(cause) }) };
}
