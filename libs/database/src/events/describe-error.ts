import { inspect } from 'node:util';

const MAX_LENGTH = 1_000;

/** Returns a text that PostgreSQL can store, whatever a handler has thrown. */
export function describeError(error: unknown): string {
  let text: string;
  try {
    if (typeof error === 'string') text = error;
    else text = Error.isError(error) ? String(error) : inspect(error, { depth: 1, breakLength: Infinity });
  } catch {
    text = 'An error without a description.';
  }
  return text.slice(0, MAX_LENGTH).replaceAll('\0', '\uFFFD').toWellFormed();
}
