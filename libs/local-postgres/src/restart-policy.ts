const WINDOW_MS = 60_000;
export const MAX_DEATHS = 5;

/** Decides how soon a server that has died is started again. */
export class RestartPolicy {
  private deaths: readonly number[] = [];
  private readonly pauseMs: number;

  constructor(pauseMs = 500) {
    this.pauseMs = pauseMs;
  }

  /** Returns the pause before the next start: none at first, then growing ones. Undefined after MAX_DEATHS deaths in a minute. */
  next(nowMs = performance.now()): number | undefined {
    this.deaths = [...this.deaths.filter((diedAtMs) => nowMs - diedAtMs < WINDOW_MS), nowMs];
    const count = this.deaths.length;
    if (count >= MAX_DEATHS) return undefined;
    return count === 1 ? 0 : this.pauseMs * 2 ** (count - 2);
  }
}
