import { setTimeout as sleep } from 'node:timers/promises';

/** Until the pool has noticed which of its other connections are lost as well. */
const PAUSE_MS = 50;

/** Shut down by an administrator, crash of another session, serialization failure, deadlock. */
const TRY_AGAIN_SQLSTATE = /^(?:57P0[12]|40001|40P01)$/;
const LOST_SYSTEM_ERRORS = new Set(['ECONNRESET', 'EPIPE']);
const LOST_MESSAGES = /^(?:Connection terminated unexpectedly|Client has encountered a connection error|Client was closed)/;

/**
 * Reads once more when the connection was lost under the first attempt, as after a restart of the database. For statements
 * that change nothing, and none else: whether a lost write has happened is not known.
 */
export function retryRead<T>(read: () => Promise<T>): Promise<T> {
  return read().catch(async (error: unknown) => {
    if (!isWorthAnotherRead(error)) throw error;
    await sleep(PAUSE_MS);
    return read();
  });
}

function isWorthAnotherRead(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  // TypeORM puts its own message around that of `pg`.
  const { driverError } = error as { driverError?: unknown };
  if (driverError !== undefined) return isWorthAnotherRead(driverError);
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') return LOST_SYSTEM_ERRORS.has(code) || TRY_AGAIN_SQLSTATE.test(code);
  return LOST_MESSAGES.test(error.message);
}
