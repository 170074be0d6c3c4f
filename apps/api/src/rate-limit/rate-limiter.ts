export interface Quota {
  readonly isExceeded: boolean;
  readonly remaining: number;
  /** Until the window ends and the count begins anew. */
  readonly resetSeconds: number;
}

/** What all processes count together; the limiters of rate-limiter-flexible have this shape. */
export interface SharedCounter {
  /** Adds points whatever the count is. */
  penalty(key: string, points: number): Promise<{ readonly consumedPoints: number; readonly msBeforeNext: number }>;
}

export interface RateLimiterOptions {
  /** Requests in a window. */
  readonly limit: number;
  readonly windowMs: number;
  /** Processes that count together on this machine. */
  readonly processes: number;
  readonly counter: SharedCounter;
}

interface Window {
  readonly endsAt: number;
  /** By all processes, as the shared counter last told. */
  counted: number;
  /** By this process since it last reported. */
  unreported: number;
  /** On its way to the shared counter. */
  reporting: number;
}

/** How far all processes together may go over the limit. */
const OVERSHOOT = 0.1;
const REPORTS_PER_SHARE = 4;
const MAX_WINDOWS = 100_000;
/** Two ends of a window that differ by less are the same one, told over a network. */
const CLOCK_TOLERANCE_MS = 1_000;

/**
 * Fixed windows, counted in memory and reported to the shared counter a few requests at a time, so that nearly every request is
 * answered without a promise. Each process may be ahead of its reports by its share of the overshoot; then it asks first.
 */
export class RateLimiter {
  /** Oldest first. */
  private readonly windows = new Map<string, Window>();
  private readonly maxUnconfirmed: number;
  private readonly reportEvery: number;

  constructor(private readonly options: RateLimiterOptions) {
    this.maxUnconfirmed = Math.floor((options.limit * OVERSHOOT) / options.processes);
    this.reportEvery = Math.max(1, Math.floor(this.maxUnconfirmed / REPORTS_PER_SHARE));
  }

  /** Counts one request of the key. */
  take(key: string): Quota | Promise<Quota> {
    const now = performance.now();
    const window = this.windows.get(key);
    if (!window || now >= window.endsAt) return this.askFirst(key);
    const unconfirmed = window.unreported + window.reporting;
    const taken = window.counted + unconfirmed;
    if (taken >= this.options.limit) return this.quota(taken + 1, window.endsAt - now);
    if (unconfirmed >= this.maxUnconfirmed) return this.askFirst(key);
    window.unreported++;
    if (window.unreported >= this.reportEvery && window.reporting === 0) this.report(key, window);
    return this.quota(taken + 1, window.endsAt - now);
  }

  /** Whether the next request of the key would be one too many. Counts nothing. */
  isSpent(key: string): boolean {
    const window = this.windows.get(key);
    if (!window || performance.now() >= window.endsAt) return false;
    return window.counted + window.unreported + window.reporting >= this.options.limit;
  }

  private async askFirst(key: string): Promise<Quota> {
    const { counted, unreported, reporting, endsAt } = await this.add(key, 1);
    return this.quota(counted + unreported + reporting, endsAt - performance.now());
  }

  private report(key: string, window: Window): void {
    window.reporting = window.unreported;
    window.unreported = 0;
    void this.add(key, window.reporting).then(() => {
      window.reporting = 0;
    });
  }

  /** Never rejects: without an answer the points are counted here alone. */
  private async add(key: string, points: number): Promise<Window> {
    const answer = await this.options.counter.penalty(key, points).catch(() => undefined);
    const now = performance.now();
    const known = this.windows.get(key);
    if (!answer) {
      if (!known || now >= known.endsAt) return this.open(key, now + this.options.windowMs, points);
      known.counted += points;
      return known;
    }
    const endsAt = now + answer.msBeforeNext;
    if (!known || endsAt - known.endsAt > CLOCK_TOLERANCE_MS) return this.open(key, endsAt, answer.consumedPoints);
    known.counted = Math.max(known.counted, answer.consumedPoints);
    return known;
  }

  private open(key: string, endsAt: number, counted: number): Window {
    this.windows.delete(key);
    if (this.windows.size >= MAX_WINDOWS) this.windows.delete(this.windows.keys().next().value ?? '');
    const window = { endsAt, counted, unreported: 0, reporting: 0 };
    this.windows.set(key, window);
    return window;
  }

  private quota(taken: number, msLeft: number): Quota {
    return {
      isExceeded: taken > this.options.limit,
      remaining: Math.max(0, this.options.limit - taken),
      resetSeconds: Math.max(1, Math.ceil(msLeft / 1000)),
    };
  }
}
