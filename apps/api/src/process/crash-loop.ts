/** Tells single crashes, after which a worker is replaced, from a loop of them. */
export class CrashLoop {
  private crashes: readonly number[] = [];

  constructor(
    private readonly maxCrashes: number,
    private readonly withinMs: number,
  ) {}

  /** Notes a crash; true when there were too many lately. */
  note(nowMs: number): boolean {
    this.crashes = [...this.crashes, nowMs].filter((at) => nowMs - at <= this.withinMs);
    return this.crashes.length > this.maxCrashes;
  }
}
