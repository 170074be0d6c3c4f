/**
 * SQLSTATE codes with which the server enforces a timeout: 25P03 idle_in_transaction_session_timeout, 25P04 transaction_timeout,
 * 55P03 lock_timeout, 57014 statement_timeout, 57P05 idle_session_timeout.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const TIMEOUT_SQLSTATE = new Set<unknown>(['25P03', '25P04', '55P03', '57014', '57P05']);

/** Whether the database could be reached, and a timeout of it stopped a statement or ended a session. */
export function isStoppedByTimeout(error: unknown): boolean {
  const { code, driverError, cause } = error as { code?: unknown; driverError?: unknown; cause?: unknown };
  if (TIMEOUT_SQLSTATE.has(code)) return true;
  const inner = driverError ?? cause;
  return Error.isError(inner) && isStoppedByTimeout(inner);
}
