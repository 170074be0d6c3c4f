/** Upper limit of the random delay before a retry. */
const MAX_DELAY_MS = 8_000;
/** After a response with a longer `Retry-After`, the client does not retry. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Returns the delay in milliseconds after a failed attempt, or undefined if there is no retry. The number of the first attempt is 1.
 * Without `Retry-After`: exponential backoff with full jitter. With it: `Retry-After`, plus a random delay of up to `minDelay`.
 */
export function retryDelay(attempt: number, minDelay: number, retryAfter: number | undefined): number | undefined {
  if (retryAfter === undefined) return Math.random() * Math.min(MAX_DELAY_MS, minDelay * 2 ** (attempt - 1));
  return retryAfter > MAX_RETRY_AFTER_MS ? undefined : retryAfter + Math.random() * minDelay;
}

/** Resolves after the time, or as soon as the signal aborts. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
  });
}
