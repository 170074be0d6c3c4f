/** The count of a key in its current window. */
export interface Count {
  readonly points: number;
  /** Time until the window ends. */
  readonly msLeft: number;
}

/** Counts in fixed windows: in this process or in Redis. */
export interface Counter {
  /**
   * Adds points, even above the limit. A window begins with the first points of a key. Returns undefined if the counter cannot be used,
   * at the latest after RESPONSE_TIMEOUT_MS. Never rejects.
   */
  add(key: string, points: number): Count | Promise<Count | undefined>;
}

/** Other releases share the counts, so another length requires other names of the counters. */
export const WINDOW_MS = 60_000;
/** Maximum time that a request waits for a counter of other processes. */
export const RESPONSE_TIMEOUT_MS = 250;

interface Window {
  readonly endsAt: number;
  points: number;
}

const MAX_WINDOWS = 100_000;

/** Counts in the memory of this process, with a clock that cannot be set. */
export class MemoryCounter implements Counter {
  /** Oldest first. */
  private readonly windows = new Map<string, Window>();

  add(key: string, points: number): Count {
    const now = performance.now();
    let window = this.windows.get(key);
    if (!window || now >= window.endsAt) {
      this.windows.delete(key);
      this.evict(now);
      window = { endsAt: now + WINDOW_MS, points: 0 };
      this.windows.set(key, window);
    }
    window.points += points;
    return { points: window.points, msLeft: window.endsAt - now };
  }

  private evict(now: number): void {
    for (const [oldest, { endsAt }] of this.windows) {
      if (this.windows.size < MAX_WINDOWS && now < endsAt) return;
      this.windows.delete(oldest);
    }
  }
}
