import type { Count, SharedCounter } from './shared-counter.js';

interface Window {
  readonly endsAt: number;
  points: number;
}

const MAX_WINDOWS = 100_000;

/** Counts in the memory of this process, with a clock that cannot be set. */
export class FixedWindows implements SharedCounter {
  /** Oldest first. */
  private readonly windows = new Map<string, Window>();

  add(key: string, points: number, windowMs: number): Count {
    const now = performance.now();
    let window = this.windows.get(key);
    if (!window || now >= window.endsAt) {
      this.windows.delete(key);
      this.evict(now);
      window = { endsAt: now + windowMs, points: 0 };
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
