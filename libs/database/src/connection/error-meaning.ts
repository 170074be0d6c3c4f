import { DatabaseError } from 'pg';
import { CANNOT_CONNECT, LIBRARY_ERRORS, type Trait, traitsOf } from './error-table.js';

/** The properties of errors of the database, the system and TypeORM, which wraps errors of `pg`. */
interface Details {
  readonly code?: unknown;
  readonly driverError?: unknown;
  readonly errors?: unknown;
  readonly path?: unknown;
  readonly routine?: unknown;
  readonly syscall?: string;
}

/** System calls about the port of this process, not about the database. */
const LISTENING = ['listen', 'bind'];
/** Errors of PgBouncer that mean that it does not track named statements: src/prepare.c. */
const LOST_STATEMENTS = ['prepared statement did not exist', 'prepared statement name is already in use'];
const LOST_STATEMENT = '26000';
/** The function of PostgreSQL that throws "cached plan must not change result type", with the code feature_not_supported. */
const REVALIDATE = 'RevalidateCachedQuery';
/** lock_not_available and query_canceled, also of timeouts. They end the statement, and not its session. */
const STOPPED = ['55P03', '57014'];
/** Cardinality violation, conflicts, and wrong statements. */
const USABLE = /^(?:21|40(?!003)|42|72)/;

/** Whether the error means that the database is unreachable or unavailable, rather than that the statement is wrong. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  if (hasTrait(error, 'unavailable')) return true;
  const { driverError, errors, path, syscall } = error as Details;
  // A system call of a socket, unlike one of a file.
  if (syscall !== undefined && path === undefined && !LISTENING.includes(syscall)) return true;
  if (Array.isArray(errors)) return errors.some(isDatabaseUnavailable);
  return isDatabaseUnavailable(driverError ?? error.cause);
}

/** Whether a read that failed may be repeated at once. */
export function isRepeatable(error: unknown): boolean {
  return hasTrait((error as Details | undefined)?.driverError ?? error, 'repeatable');
}

/** Whether the session does not have the prepared statement, or has a plan that no longer fits its tables. The statement had no effect. */
export function isStatementLost(error: unknown): boolean {
  const code = codeOf(error);
  return code === LOST_STATEMENT || code === '42P05';
}

/** Whether the statement was rolled back, and may succeed when it is repeated. */
export function isConflict(error: unknown): boolean {
  return hasTrait((error as Details | undefined)?.driverError ?? error, 'conflict');
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
  if (!(error instanceof DatabaseError) || error.code === undefined) return false;
  return STOPPED.includes(error.code) || USABLE.test(error.code) || isRowError(error) || isStatementLost(error);
}

/**
 * Returns an error with a code for which `isDatabaseUnavailable` is true, because it prevented a connection. For example, 55000 is a bug in a
 * statement, but not during a login.
 */
export function connectError(error: unknown): unknown {
  if (isDatabaseUnavailable(error)) return error;
  return Object.assign(new Error((error as Error).message, { cause: error }), { code: CANNOT_CONNECT });
}

function hasTrait(error: unknown, trait: Trait): boolean {
  const code = codeOf(error);
  return code !== undefined && traitsOf(code).includes(trait);
}

function codeOf(error: unknown): string | undefined {
  if (!Error.isError(error)) return undefined;
  const { code, routine } = error as Details;
  if (routine === REVALIDATE || LOST_STATEMENTS.includes(error.message)) return LOST_STATEMENT;
  if (typeof code === 'string') return code;
  return Object.hasOwn(LIBRARY_ERRORS, error.message) ? LIBRARY_ERRORS[error.message]?.[1] : undefined;
}
