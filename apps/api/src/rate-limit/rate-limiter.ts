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
  /** Processes that count together; undefined if the counter is shared with an unknown number of machines. */
  readonly processes: number | undefined;
  readonly counter: SharedCounter;
}

interface Window {
  readonly endsAt: number;
  /** By all processes, as the shared counter last reported. */
  counted: number;
  /** The part of it that this process has reported. */
  own: number;
  /** How many requests of this process may be missing from `counted`. */
  maxUnconfirmed: number;
  reportEvery: number;
  /** By this process since it last reported. */
  unreported: number;
  /** On its way to the shared counter. */
  reporting: number;
}

/** How far all processes together may go over the limit. */
const OVERSHOOT = 0.1;
/** Of an unknown number of processes: the overshoot holds for so many. */
const MAX_PROCESSES = 20;
/** The part of the overshoot for the one process that has counted all requests of a key so far. */
const ALONE = 0.25;
const REPORTS_PER_SHARE = 4;
const MAX_WINDOWS = 100_000;
/** Two ends of a window that differ by less are the same one, told over a network. */
const CLOCK_TOLERANCE_MS = 1_000;

/**
 * Fixed windows, counted in memory and reported to the shared counter a few requests at a time, so that nearly every request is
 * answered without a promise. Each process may be ahead of its reports by its share of the overshoot; then it asks first. If the number of
 * processes is unknown, only a process that counts a key alone, which the shared counter shows, has more than the least share.
 */
export class RateLimiter {
  /** Oldest first. */
  private readonly windows = new Map<string, Window>();
  private readonly share: number;
  private readonly shareAlone: number;

  constructor(private readonly options: RateLimiterOptions) {
    const overshoot = options.limit * OVERSHOOT;
    const { processes } = options;
    this.share = Math.floor(processes === undefined ? (overshoot * (1 - ALONE)) / MAX_PROCESSES : overshoot / processes);
    this.shareAlone = processes === undefined ? Math.floor(overshoot * ALONE) : this.share;
  }

  /** Counts one request of the key. */
  take(key: string): Quota | Promise<Quota> {
    const now = performance.now();
    const window = this.windows.get(key);
    if (!window || now >= window.endsAt) return this.askFirst(key);
    const unconfirmed = window.unreported + window.reporting;
    const taken = window.counted + unconfirmed;
    if (taken >= this.options.limit) return this.quota(taken + 1, window.endsAt - now);
    if (unconfirmed >= window.maxUnconfirmed) return this.askFirst(key);
    window.unreported++;
    if (window.unreported >= window.reportEvery && window.reporting === 0) this.report(key, window);
    return this.quota(taken + 1, window.endsAt - now);
  }

  /** Whether the next request of the key would be one too many. Counts nothing. */
  isSpent(key: string): boolean {
    const window = this.windows.get(key);
    if (!window || performance.now() >= window.endsAt) return false;
    return window.counted + window.unreported + window.reporting >= this.options.limit;
  }

  private async askFirst(key: string): Promise<Quota> {
    const { taken, endsAt } = await this.add(key, 1);
    return this.quota(taken, endsAt - performance.now());
  }

  private report(key: string, window: Window): void {
    window.reporting = window.unreported;
    window.unreported = 0;
    void this.add(key, window.reporting, window);
  }

  /**
   * Resolves to how many requests were taken including these points, whatever is counted while it waits. Never rejects: without a response
   * the points are counted here alone.
   */
  private async add(key: string, points: number, reporting?: Window): Promise<{ readonly taken: number; readonly endsAt: number }> {
    const response = await this.options.counter.penalty(key, points).catch(() => undefined);
    // Together with the count below: points that are in both are counted twice.
    if (reporting) reporting.reporting = 0;
    const now = performance.now();
    const known = this.windows.get(key);
    const endsAt = now + (response?.msBeforeNext ?? this.options.windowMs);
    const isOver = !known || (response ? endsAt - known.endsAt > CLOCK_TOLERANCE_MS : now >= known.endsAt);
    const window = isOver ? this.open(key, endsAt) : known;
    const counted = response?.consumedPoints ?? window.counted + points;
    this.confirm(window, points, counted);
    return { taken: counted + window.unreported + window.reporting, endsAt: window.endsAt };
  }

  private open(key: string, endsAt: number): Window {
    this.windows.delete(key);
    if (this.windows.size >= MAX_WINDOWS) this.windows.delete(this.windows.keys().next().value ?? '');
    const window = { endsAt, counted: 0, own: 0, maxUnconfirmed: 0, reportEvery: 0, unreported: 0, reporting: 0 };
    this.windows.set(key, window);
    return window;
  }

  private confirm(window: Window, points: number, counted: number): void {
    window.counted = Math.max(window.counted, counted);
    window.own += points;
    // The first process that counts a key is the only one that can be alone.
    window.maxUnconfirmed = window.own >= window.counted ? this.shareAlone : this.share;
    window.reportEvery = Math.max(1, Math.floor(window.maxUnconfirmed / REPORTS_PER_SHARE));
  }

  private quota(taken: number, msLeft: number): Quota {
    return {
      isExceeded: taken > this.options.limit,
      remaining: Math.max(0, this.options.limit - taken),
      resetSeconds: Math.max(1, Math.ceil(msLeft / 1000)),
    };
  }
}
