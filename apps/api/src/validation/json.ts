import { isUtf8 } from 'node:buffer';
import { int64FromJsonNumber } from '@animal-store/kernel';

/** The text is no JSON, or no UTF-8. */
export class MalformedJsonError extends Error {}

interface ReviverContext {
  readonly source?: string;
}

/**
 * Parses JSON without losing a digit: each number whose value is an int64 becomes a bigint; any other stays a number.
 * @throws MalformedJsonError
 */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new MalformedJsonError('The body is not UTF-8.');
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text, exactIntegers);
  } catch (error) {
    // JSON.parse calls the reviver recursively: RangeError is its word for a nesting deeper than the stack.
    throw new MalformedJsonError(error instanceof RangeError ? 'The body is nested too deeply.' : 'The body is not well-formed JSON.');
  }
}

// ECMAScript 2026 gives the source text of a primitive as the third argument.
function exactIntegers(_key: string, value: unknown, context?: ReviverContext): unknown {
  return typeof value === 'number' && context?.source !== undefined ? (int64FromJsonNumber(context.source) ?? value) : value;
}
