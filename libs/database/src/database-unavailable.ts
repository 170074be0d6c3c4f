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

/**
 * SQLSTATE classes and codes of a server that cannot serve now: 08 connection exception, 53 insufficient resources,
 * 57014 the statement timeout, 57P01 to 57P03 shutting down or starting up, 40001 and 40P01 serialization failure and
 * deadlock, 25006 a read-only server, 58 system error.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const UNAVAILABLE_SQLSTATE = /^(?:08...|53...|57014|57P0[123]|40001|40P01|25006|58...)$/;

/** `pg` and `pg-pool` give these a message but no code. */
const MESSAGES =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout|Client was closed|Cannot use a pool after calling end|Driver not Connected)/i;

/** Whether the error says that the database cannot be reached or cannot serve, as against a fault of the statement. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && (SYSTEM_ERRORS.has(code) || UNAVAILABLE_SQLSTATE.test(code))) return true;
  if (MESSAGES.test(error.message)) return true;
  const { driverError, errors } = error as { driverError?: unknown; errors?: unknown };
  if (Array.isArray(errors)) return errors.some(isDatabaseUnavailable);
  return isDatabaseUnavailable(driverError ?? error.cause);
}

/** Data exceptions and violated constraints: the values of one row are at fault, and the statement has done nothing. */
const FAULT_SQLSTATE = /^2[23]...$/;

export function isFaultOfStatement(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && FAULT_SQLSTATE.test(code);
}
