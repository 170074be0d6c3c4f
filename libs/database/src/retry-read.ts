import { setTimeout as sleep } from 'node:timers/promises';

/** Time for the pool to detect its other lost connections. */
const PAUSE_MS = 50;

/** admin_shutdown, crash_shutdown, serialization_failure, deadlock_detected. */
const RETRYABLE_SQLSTATE = /^(?:57P0[12]|40001|40P01)$/;
const RETRYABLE_SYSTEM_ERRORS = new Set(['ECONNRESET', 'EPIPE']);
const RETRYABLE_MESSAGES = /^(?:Connection terminated unexpectedly|Client has encountered a connection error|Client was closed)/;

/**
 * Retries a read once after a lost connection (for example at a restart of the database), a serialization failure or a deadlock. Only
 * for statements without side effects, because after a lost connection it is unknown whether a write was executed.
 */
export function retryRead<T>(read: () => Promise<T>): Promise<T> {
  return read().catch(async (error: unknown) => {
    if (!isRetryable(error)) throw error;
    await sleep(PAUSE_MS);
    return read();
  });
}

function isRetryable(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  // TypeORM wraps the error of `pg`.
  const { driverError } = error as { driverError?: unknown };
  if (driverError !== undefined) return isRetryable(driverError);
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') return RETRYABLE_SYSTEM_ERRORS.has(code) || RETRYABLE_SQLSTATE.test(code);
  return RETRYABLE_MESSAGES.test(error.message);
}
