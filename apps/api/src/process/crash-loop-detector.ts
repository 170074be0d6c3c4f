/** Detects crash loops: more than `maxCrashes` crashes within `windowMs`. */
export class CrashLoopDetector {
  private crashes: readonly number[] = [];

  constructor(
    private readonly maxCrashes: number,
    private readonly windowMs: number,
  ) {}

  /** Records a crash. Returns whether it is part of a crash loop. */
  record(nowMs: number): boolean {
    this.crashes = [...this.crashes, nowMs].filter((at) => nowMs - at <= this.windowMs);
    return this.crashes.length > this.maxCrashes;
  }
}
