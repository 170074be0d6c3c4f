import { isConflict } from '../connection/error-meaning.js';
import { retryConflict } from '../connection/retry.js';
import { BatchSlots } from '../statements/batcher.js';

const MAX_CONNECTIONS = 2;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Runs calls that would delay or fail a batch, each alone and few at a time. A call that still waits for a lock of another transaction goes to
 * the end of the queue, so that it delays neither the batches nor for long the others.
 */
export class AloneQueue {
  private readonly slots = new BatchSlots(MAX_CONNECTIONS);

  /** @param maxWaitMs after this time, a call fails that waits for a lock */
  constructor(private readonly maxWaitMs: number) {}

  async run<Result>(call: () => Promise<Result>): Promise<Result> {
    const deadline = performance.now() + this.maxWaitMs;
    for (;;) {
      await new Promise<void>((begin) => {
        this.slots.acquire(begin);
      });
      try {
        return await retryConflict(call);
      } catch (error) {
        if (!isLockTimeout(error) || performance.now() > deadline) throw error;
      } finally {
        this.slots.release(false);
      }
    }
  }
}

/** Whether a statement, which had no effect, waited for another transaction. */
export function isWaiting(error: unknown): boolean {
  return isLockTimeout(error) || isConflict(error);
}

function isLockTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === LOCK_NOT_AVAILABLE;
}
