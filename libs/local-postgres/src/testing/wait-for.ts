import { setTimeout as sleep } from 'node:timers/promises';

interface WaitOptions {
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
}

/** Calls the assertion until it passes and returns its result. After the timeout, throws its source text and its last error. */
export async function waitFor<T>(assertion: () => T | Promise<T>, { timeoutMs = 30_000, intervalMs = 50 }: WaitOptions = {}): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await assertion();
    } catch (cause) {
      if (performance.now() > deadline)
        throw new Error(`Waited ${timeoutMs / 1000} s for ${String(assertion)}\n${(cause as Error).message}`, { cause });
    }
    await sleep(intervalMs);
  }
}
