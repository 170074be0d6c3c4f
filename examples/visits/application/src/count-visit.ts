import type { VisitDays } from '@animal-store/visits-domain';

export class CountVisit {
  constructor(private readonly days: VisitDays) {}

  /** Adds a visit to its day, or removes it with the count -1. */
  execute(startsAt: Date, count: 1 | -1): Promise<void> {
    return this.days.add(startsAt.toISOString().slice(0, 10), count);
  }
}
