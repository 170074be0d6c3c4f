import type { Counter } from './counters.js';

export interface Quota {
  readonly isExceeded: boolean;
  readonly remaining: number;
  /** Time until the window ends and the count is reset. */
  readonly resetSeconds: number;
}

export interface RateLimiterOptions {
  /** Maximum number of requests in a window. */
  readonly limit: number;
  readonly windowMs: number;
  /** Number of processes that share the counter; undefined if it is shared by an unknown number of machines. */
  readonly processes: number | undefined;
  /** Adds points to the count of all processes, like a Counter. */
  readonly addToAll: (key: string, points: number) => ReturnType<Counter['add']>;
}

interface Window {
  readonly endsAt: number;
  /** Requests of all processes, as last reported by the shared counter. */
  counted: number;
  /** Requests that this process has reported. */
  reported: number;
  /** Maximum number of requests of this process that are not in `counted`. */
  maxUnconfirmed: number;
  reportEvery: number;
  /** Requests of this process since its last report. */
  unreported: number;
  /** Requests in the report that is being sent. */
  reporting: number;
}

/** Share of the limit by which all processes together may exceed it. */
const OVERSHOOT = 0.1;
/** If the number of processes is unknown, up to this many processes together stay within OVERSHOOT. */
const MAX_PROCESSES = 20;
/** Part of OVERSHOOT that is reserved for the first process that counts a key, as long as no other process counts it. */
const SHARE_OF_ONLY_PROCESS = 0.25;
const REPORTS_PER_SHARE = 4;
const MAX_WINDOWS = 100_000;
/** Maximum difference between two reported end times of the same window. It is caused by network latency. */
const CLOCK_TOLERANCE_MS = 1_000;

/**
 * Counts requests in fixed windows, in memory, and reports them to the shared counter in batches, so that few requests wait for it.
 * A process whose unconfirmed requests reach its share of the overshoot asks the shared counter first. If the number of processes is
 * unknown, the only process that has counted a key so far has a larger share.
 */
export class RateLimiter {
  /** Oldest first. */
  private readonly windows = new Map<string, Window>();
  private readonly share: number;
  private readonly shareOfOnlyProcess: number;

  constructor(private readonly options: RateLimiterOptions) {
    const overshoot = options.limit * OVERSHOOT;
    const { processes } = options;
    this.share = Math.floor(processes === undefined ? (overshoot * (1 - SHARE_OF_ONLY_PROCESS)) / MAX_PROCESSES : overshoot / processes);
    this.shareOfOnlyProcess = processes === undefined ? Math.floor(overshoot * SHARE_OF_ONLY_PROCESS) : this.share;
  }

  /** Counts one request of the key. */
  take(key: string): Quota | Promise<Quota> {
    const now = performance.now();
    const window = this.windows.get(key);
    if (!window || now >= window.endsAt) return this.takeFromSharedCounter(key);
    const unconfirmed = window.unreported + window.reporting;
    const taken = window.counted + unconfirmed;
    if (taken >= this.options.limit) return this.quota(taken + 1, window.endsAt - now);
    if (unconfirmed >= window.maxUnconfirmed) return this.takeFromSharedCounter(key);
    window.unreported++;
    if (window.unreported >= window.reportEvery && window.reporting === 0) this.report(key, window);
    return this.quota(taken + 1, window.endsAt - now);
  }

  private async takeFromSharedCounter(key: string): Promise<Quota> {
    const { taken, endsAt } = await this.add(key, 1);
    return this.quota(taken, endsAt - performance.now());
  }

  private report(key: string, window: Window): void {
    window.reporting = window.unreported;
    window.unreported = 0;
    void this.add(key, window.reporting, window);
  }

  /**
   * Adds points to the shared counter. Resolves to the number of requests of all processes, including those counted meanwhile.
   * Without a response, the points are only counted in this process.
   */
  private async add(key: string, points: number, reporting?: Window): Promise<{ readonly taken: number; readonly endsAt: number }> {
    const { addToAll, windowMs } = this.options;
    const response = await addToAll(key, points);
    // In the same turn as `confirm` below, so that the points are counted exactly once.
    if (reporting) reporting.reporting = 0;
    const now = performance.now();
    const known = this.windows.get(key);
    // Nothing lasts longer than a window, whatever the clock of another machine shows.
    const endsAt = now + Math.min(Math.max(response?.msLeft ?? windowMs, 0), windowMs);
    const isOver = !known || (response ? endsAt - known.endsAt > CLOCK_TOLERANCE_MS : now >= known.endsAt);
    const window = isOver ? this.open(key, endsAt) : known;
    const counted = response?.points ?? window.counted + points;
    this.confirm(window, points, counted);
    return { taken: counted + window.unreported + window.reporting, endsAt: window.endsAt };
  }

  private open(key: string, endsAt: number): Window {
    this.windows.delete(key);
    if (this.windows.size >= MAX_WINDOWS) this.windows.delete(this.windows.keys().next().value ?? '');
    const window = { endsAt, counted: 0, reported: 0, maxUnconfirmed: 0, reportEvery: 0, unreported: 0, reporting: 0 };
    this.windows.set(key, window);
    return window;
  }

  private confirm(window: Window, points: number, counted: number): void {
    window.counted = Math.max(window.counted, counted);
    window.reported += points;
    // Only the first process that counts a key can have counted all its requests.
    window.maxUnconfirmed = window.reported >= window.counted ? this.shareOfOnlyProcess : this.share;
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
