import { Clock } from '@animal-store/kernel';

export class SettableClock extends Clock {
  constructor(private time: Date = new Date('2026-11-21T12:00:00Z')) {
    super();
  }

  override now(): Date {
    return this.time;
  }

  advance(ms: number): void {
    this.time = new Date(this.time.getTime() + ms);
  }
}
