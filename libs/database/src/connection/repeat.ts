import { setTimeout as sleep } from 'node:timers/promises';

/** Calls `work` until the signal aborts. Each call returns the pause in ms before the next one. */
export async function repeat(signal: AbortSignal, work: () => Promise<number>): Promise<void> {
  while (!signal.aborted) {
    const pauseMs = await work();
    await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
