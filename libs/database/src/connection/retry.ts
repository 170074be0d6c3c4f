import { setTimeout as sleep } from 'node:timers/promises';
import { hasTrait } from './error-meaning.js';

/** Time for the pool to detect its other lost connections. */
const PAUSE_MS = 50;
const MAX_ATTEMPTS = 4;
/** Doubles with each attempt. */
const CONFLICT_PAUSE_MS = 10;

/** Retries a read after an error that is `repeatable`. Not for writes: after a lost connection, it is unknown whether one was executed. */
export function retryRead<T>(read: () => Promise<T>): Promise<T> {
  return read().catch(async (error: unknown) => {
    if (!hasTrait(error, 'repeatable')) throw error;
    await sleep(PAUSE_MS);
    return read();
  });
}

/** Repeats a write, at most three times, after an error that is a `conflict`, such as a deadlock. PostgreSQL has rolled the write back. */
export async function retryConflict<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !hasTrait(error, 'conflict')) throw error;
      await sleep(CONFLICT_PAUSE_MS * 2 ** attempt * Math.random());
    }
  }
}

/** Calls `work` until the signal aborts. Each call returns the pause in ms before the next one. */
export async function repeat(signal: AbortSignal, work: () => Promise<number>): Promise<void> {
  while (!signal.aborted) {
    const pauseMs = await work();
    await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
