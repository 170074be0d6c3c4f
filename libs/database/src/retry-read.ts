import { setTimeout as sleep } from 'node:timers/promises';
import { isRepeatable } from './database-unavailable.js';

/** Time for the pool to detect its other lost connections. */
const PAUSE_MS = 50;

/**
 * Retries a read once after a lost connection (for example at a restart of the database), a serialization failure or a deadlock. Only
 * for statements without side effects, because after a lost connection it is unknown whether a write was executed.
 */
export function retryRead<T>(read: () => Promise<T>): Promise<T> {
  return read().catch(async (error: unknown) => {
    if (!isRepeatable(error)) throw error;
    await sleep(PAUSE_MS);
    return read();
  });
}
