/** After a response with a longer `Retry-After`, the client does not retry. */
const MAX_RETRY_AFTER_MS = 60_000;

export interface RetryDelays {
  readonly minRetryDelay: number;
  readonly maxRetryDelay: number;
}

/**
 * Returns the delay in milliseconds after a failed attempt, or undefined if there is no retry. The number of the first attempt is 1.
 * Without `Retry-After`: exponential backoff with full jitter. With it: `Retry-After`, plus a random delay of up to `minRetryDelay`.
 */
export function retryDelay(
  attempt: number,
  { minRetryDelay, maxRetryDelay }: RetryDelays,
  retryAfter: number | undefined,
): number | undefined {
  if (retryAfter === undefined) return Math.random() * Math.min(maxRetryDelay, minRetryDelay * 2 ** (attempt - 1));
  return retryAfter > MAX_RETRY_AFTER_MS ? undefined : retryAfter + Math.random() * minRetryDelay;
}

/** Parses seconds or a date to milliseconds. A date is compared with the `Date` of the response, because clocks may differ. */
export function parseRetryAfter(value: string | null | undefined, date?: string | null): number | undefined {
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const now = Date.parse(date ?? '');
  // `Date.parse` also accepts texts such as `-5` and `1.5`.
  const ms = /^\D|^\d{4}-/.test(value) && /\b\d{4}\b/.test(value) ? Date.parse(value) - (Number.isNaN(now) ? Date.now() : now) : NaN;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
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
