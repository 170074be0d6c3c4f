import { isUtf8 } from 'node:buffer';
import { int64FromJsonNumber } from '@animal-store/kernel';
import { HTTP_ERRORS, HttpError } from '../errors/http-errors.js';

/** Matches numbers that need their source text: with a fraction, an exponent or more than 15 digits. Also matches inside strings. */
const MAY_LOSE_DIGITS = /[0-9](?:[.eE]|[0-9]{15})/;

const MAX_DEPTH = 64;
const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\[]{}') as unknown as number[];

/**
 * Parses JSON. Numbers whose value is an int64 become exact bigints; other numbers remain numbers, also those beyond 2^53 with a fraction
 * or an exponent, because their sender has lost digits.
 * @throws HttpError malformed_json if the text is not JSON, not UTF-8, or nested too deeply
 */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw malformed('The body is not UTF-8.');
  // Before recursive code: JSON.parse with a reviver, and the DTOs.
  if (isNestedDeeply(bytes)) throw malformed(`The body is nested more than ${String(MAX_DEPTH)} levels deep.`);
  const text = bytes.toString('utf8');
  try {
    return MAY_LOSE_DIGITS.test(text) ? JSON.parse(text, exactIntegers) : withBigints(JSON.parse(text));
  } catch {
    throw malformed('The body is not well-formed JSON.');
  }
}

function malformed(message: string): HttpError {
  return new HttpError(HTTP_ERRORS.malformedJson, message);
}

function isNestedDeeply(bytes: Buffer): boolean {
  if (bytes.length <= 2 * MAX_DEPTH) return false;
  let depth = 0;
  let isInString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) isInString = !isInString;
    else if (isInString) i += byte === BACKSLASH ? 1 : 0;
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth--;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

function withBigints(value: unknown): unknown {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value === 'object' && value !== null) {
    const members = value as Record<string, unknown>;
    // The assignment is safe, even for `__proto__`, because each name is an own property.
    for (const name of Object.keys(members)) {
      const member = members[name];
      if (typeof member === 'number' || typeof member === 'object') members[name] = withBigints(member);
    }
  }
  return value;
}

// The reviver of ECMAScript 2026 gets the source text of a primitive in its third argument.
function exactIntegers(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  const isInexact = !Number.isSafeInteger(value) && /[.eE]/.test(context.source);
  return isInexact ? value : (int64FromJsonNumber(context.source) ?? value);
}
