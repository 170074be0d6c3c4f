export interface RetryDelays {
    readonly minRetryDelay: number;
    readonly maxRetryDelay: number;
}
/**
 * Returns the delay in milliseconds after a failed attempt, or undefined if there is no retry. The number of the first attempt is 1.
 * Without `Retry-After`: exponential backoff with full jitter. With it: `Retry-After`, plus a random delay of up to `minRetryDelay`.
 */
export declare function retryDelay(attempt: number, { minRetryDelay, maxRetryDelay }: RetryDelays, retryAfter: number | undefined): number | undefined;
/** Parses seconds or a date to milliseconds. A date is compared with the `Date` of the response, because clocks may differ. */
export declare function parseRetryAfter(value: string | null | undefined, date?: string | null): number | undefined;
/** Resolves after the time, or as soon as the signal aborts. */
export declare function sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
