const SYSTEM_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EADDRNOTAVAIL',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);

/** 28 invalid authorization, 3D000 no such database. */
const LOGIN_REJECTED_SQLSTATE = /^(?:28...|3D000)$/;

/**
 * SQLSTATE classes and codes of a server that cannot serve now: 08 connection exception, 53 insufficient resources,
 * 57014 the statement timeout, 57P01 to 57P03 shutting down or starting up, 40001 and 40P01 serialization failure and
 * deadlock, 25006 a read-only server, 58 system error.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const UNAVAILABLE_SQLSTATE = /^(?:08...|53...|57014|57P0[123]|40001|40P01|25006|58...)$/;

/** sqlclient_unable_to_establish_sqlconnection: our code for an unusable URL, failed TLS, and several servers that all failed. */
export const CANNOT_CONNECT = '08001';
const STATEMENT_TIMEOUT = '57014';
/** PgBouncer's error for a start-up parameter that it does not support. Its other errors with the same code may be temporary. */
const UNSUPPORTED_PARAMETER = /^unsupported startup parameter/;

/** 26000 prepared statement does not exist, 42P05 it already exists. Poolers also report this as 08P01, protocol violation. */
const NAMED_STATEMENT_SQLSTATE = /^(?:26000|42P05|08P01)$/;
const NAMED_STATEMENT_MESSAGE = /prepared statement/i;

/** Errors of `pg`, `pg-pool` and TypeORM that have no code. TypeORM releases the query runner of a lost connection. */
const MESSAGES =
  /^(?:Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout|Client was closed|Cannot use a pool after calling end|Driver not Connected|Query runner already released|Database connection provided by a query runner was already released)/i;

/** Whether the error means that the database is unreachable or unavailable, rather than that the statement is wrong. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && (SYSTEM_ERRORS.has(code) || UNAVAILABLE_SQLSTATE.test(code) || LOGIN_REJECTED_SQLSTATE.test(code)))
    return true;
  if (MESSAGES.test(error.message) || isNamedStatementLost(error)) return true;
  const { driverError, errors } = error as { driverError?: unknown; errors?: unknown };
  if (Array.isArray(errors)) return errors.some(isDatabaseUnavailable);
  return isDatabaseUnavailable(driverError ?? error.cause);
}

/** Whether a named statement is missing or already exists on the connection. Happens behind poolers that do not track statements. */
export function isNamedStatementLost(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && NAMED_STATEMENT_SQLSTATE.test(code) && NAMED_STATEMENT_MESSAGE.test(error.message);
}

/** Whether the server rejected the login, or the database does not exist. */
export function isLoginRejected(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && LOGIN_REJECTED_SQLSTATE.test(code);
}

/** Whether connecting may succeed later without a change of settings. */
export function mayRecover(error: unknown): boolean {
  if (!isDatabaseUnavailable(error)) return false;
  const { code, message, driverError, errors, cause } = error as Error & { code?: unknown; driverError?: unknown; errors?: unknown };
  if (Array.isArray(errors)) return errors.some(mayRecover);
  if (code === undefined && isDatabaseUnavailable(driverError ?? cause)) return mayRecover(driverError ?? cause);
  return code !== CANNOT_CONNECT && code !== STATEMENT_TIMEOUT && !UNSUPPORTED_PARAMETER.test(message);
}

/** 22 data exception, 23 integrity constraint violation. */
const ROW_ERROR_SQLSTATE = /^2[23]...$/;

/** Whether a row has invalid values. The statement had no effect. */
export function isRowError(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && ROW_ERROR_SQLSTATE.test(code);
}
