/** The count of a key in its current window. */
export interface Count {
  readonly points: number;
  /** Time until the window ends. */
  readonly msLeft: number;
}

/** A counter of several processes. */
export interface SharedCounter {
  /**
   * Adds points, even above the limit. A window begins with the first points of a key. Returns undefined if the counter cannot be used,
   * at the latest after RESPONSE_TIMEOUT_MS. Never rejects.
   */
  add(key: string, points: number, windowMs: number): Count | Promise<Count | undefined>;
}

/** Maximum time that a request waits for a counter of other processes. */
export const RESPONSE_TIMEOUT_MS = 250;
