import { setTimeout as sleep } from 'node:timers/promises';

interface WaitOptions {
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
}

/** Calls the assertion until it passes and returns its result. Throws its last error after the timeout. */
export async function waitFor<T>(assertion: () => T | Promise<T>, { timeoutMs = 120_000, intervalMs = 50 }: WaitOptions = {}): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await assertion();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await sleep(intervalMs);
  }
}
