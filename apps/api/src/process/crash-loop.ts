/** Detects crash loops: more than `maxCrashes` crashes within `withinMs`. */
export class CrashLoop {
  private crashes: readonly number[] = [];

  constructor(
    private readonly maxCrashes: number,
    private readonly withinMs: number,
  ) {}

  /** Records a crash. Returns whether it is part of a crash loop. */
  note(nowMs: number): boolean {
    this.crashes = [...this.crashes, nowMs].filter((at) => nowMs - at <= this.withinMs);
    return this.crashes.length > this.maxCrashes;
  }
}
