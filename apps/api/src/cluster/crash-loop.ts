/** Tells single crashes, after which a worker is replaced, from a loop of them. */
export class CrashLoop {
  private readonly crashes: number[] = [];

  constructor(
    private readonly maxCrashes: number,
    private readonly withinMs: number,
  ) {}

  /** Notes a crash; true when there were too many lately. */
  note(nowMs: number): boolean {
    this.crashes.push(nowMs);
    while (nowMs - (this.crashes[0] ?? nowMs) > this.withinMs) this.crashes.shift();
    return this.crashes.length > this.maxCrashes;
  }
}
