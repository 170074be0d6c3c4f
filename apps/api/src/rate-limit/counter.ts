export const WINDOW_S = 60;

export interface Count {
  readonly points: number;
  /** Time until the window ends and the count is reset. */
  readonly msLeft: number;
}

/** Counts each key in windows of one minute. A count is valid until the key is counted again. */
export interface Counter {
  add(key: bigint | string): Count | Promise<Count>;
}

interface Window extends Count {
  points: number;
  msLeft: number;
  readonly endsAt: number;
}

/** Counts in this process. Synchronous, because a promise costs a request more than the count. */
export class MemoryCounter implements Counter {
  private readonly windows = new Map<bigint | string, Window>();
  private sweepAt = -Infinity;

  add(key: bigint | string): Count {
    const now = performance.now();
    let window = this.windows.get(key);
    if (!window || window.endsAt <= now) {
      if (this.sweepAt <= now) this.sweep(now);
      window = { points: 0, msLeft: 0, endsAt: now + 1000 * WINDOW_S };
      this.windows.set(key, window);
    }
    window.points++;
    window.msLeft = window.endsAt - now;
    return window;
  }

  private sweep(now: number): void {
    for (const [key, { endsAt }] of this.windows) if (endsAt <= now) this.windows.delete(key);
    this.sweepAt = now + 1000 * WINDOW_S;
  }
}
