import { DatabaseError } from 'pg';
import { CANNOT_CONNECT, LIBRARY_ERRORS, LOGIN_REJECTED, type Trait, traitsOf } from './error-table.js';

/** The properties of errors of the database, the system and TypeORM, which wraps errors of `pg`. */
interface Details {
  readonly code?: unknown;
  readonly driverError?: unknown;
  readonly errors?: unknown;
  readonly path?: unknown;
  readonly syscall?: unknown;
}

/** Errors of PgBouncer, which it never translates and mostly reports as 08P01: src/client.c and src/prepare.c. */
const UNSUPPORTED_PARAMETER = /^unsupported startup parameter/;
const LOST_STATEMENTS = ['prepared statement did not exist', 'prepared statement name is already in use'];
const PROTOCOL_VIOLATION = '08P01';

/** System calls about the port of this process, not about the database. */
const LISTENING = ['listen', 'bind'];
/** invalid_parameter_value, undefined_object and others about a start-up parameter. In contrast to 42501, insufficient_privilege. */
const WRONG_PARAMETER = /^(?:0A|22|42(?!501))/;

/** Whether the error means that the database is unreachable or unavailable, rather than that the statement is wrong. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  if (hasTrait(error, 'unavailable')) return true;
  const { driverError, errors } = error as Details;
  if (Array.isArray(errors)) return errors.some(isDatabaseUnavailable);
  return isDatabaseUnavailable(driverError ?? error.cause);
}

/** Whether a named statement is missing or already exists on the connection. Happens behind poolers that do not track statements. */
export function isNamedStatementLost(error: unknown): boolean {
  return hasTrait(error, 'named') || (codeOf(error) === PROTOCOL_VIOLATION && LOST_STATEMENTS.includes((error as Error).message));
}

/** Whether the server rejected the login, or the database does not exist. */
export function isLoginRejected(error: unknown): boolean {
  return hasTrait(error, 'login');
}

/** Whether connecting may succeed later without a change of settings. */
export function mayRecover(error: unknown): boolean {
  if (!isDatabaseUnavailable(error)) return false;
  const { driverError, errors, message, cause } = error as Error & Details;
  if (Array.isArray(errors)) return errors.some(mayRecover);
  if (!hasTrait(error, 'unavailable')) return mayRecover(driverError ?? cause);
  return !hasTrait(error, 'permanent') && !UNSUPPORTED_PARAMETER.test(message);
}

/** Whether the database was reached, and one of its timeouts stopped a statement or ended a session. */
export function isStoppedByTimeout(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  return hasTrait(error, 'timeout') || isStoppedByTimeout((error as Details).driverError ?? error.cause);
}

/** Whether a read that failed may be repeated at once. */
export function isRepeatable(error: unknown): boolean {
  return hasTrait((error as Details | undefined)?.driverError ?? error, 'repeatable');
}

/** Whether the statement was rolled back because of a concurrent one. */
export function isConflict(error: unknown): boolean {
  return hasTrait(error, 'conflict');
}

/** Whether a row has invalid values. The statement had no effect. */
export function isRowError(error: unknown): boolean {
  return hasTrait(error, 'row');
}

/** Whether the value of one call, or one stored row that cannot be read, may have caused the error of a read. */
export function isReadItemError(error: unknown): boolean {
  const { code } = error as Details;
  return isRowError(error) || (code === undefined && !isDatabaseUnavailable(error));
}

/** Whether the statement failed, but its session can execute others. */
export function isSessionUsable(error: unknown): boolean {
  return hasTrait(error, 'usable');
}

/**
 * Returns an error with a code for which `isDatabaseUnavailable` is true, because it prevented a connection. For example, 42501 is a bug
 * in a statement, but a rejection during a login, and 57014 is then authentication_timeout.
 */
export function connectError(error: unknown): unknown {
  const isOfServer = error instanceof DatabaseError && error.code !== undefined;
  if (isDatabaseUnavailable(error) && !(isOfServer && hasTrait(error, 'permanent'))) return error;
  const { message } = error as Error;
  const isRejected = isOfServer && !WRONG_PARAMETER.test(error.code ?? '');
  return Object.assign(new Error(message, { cause: error }), { code: isRejected ? LOGIN_REJECTED : CANNOT_CONNECT });
}

function hasTrait(error: unknown, trait: Trait): boolean {
  const code = codeOf(error);
  const traits = code === undefined ? undefined : traitsOf(code);
  if (!traits?.has(trait)) return false;
  const { path, syscall } = error as Details;
  return (path === undefined || traits.has('machine')) && !LISTENING.includes(String(syscall));
}

function codeOf(error: unknown): string | undefined {
  if (!Error.isError(error)) return undefined;
  const { code } = error as Details;
  if (typeof code === 'string') return code;
  return Object.hasOwn(LIBRARY_ERRORS, error.message) ? LIBRARY_ERRORS[error.message]?.[1] : undefined;
}
