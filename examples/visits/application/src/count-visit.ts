import type { VisitDays } from '@animal-store/visits-domain';

/** Adds a visit to its day, or removes it with the count -1. */
export class CountVisit {
  constructor(
    private readonly days: VisitDays,
    private readonly count: 1 | -1,
  ) {}

  execute({ startsAt }: { readonly startsAt: Date }): Promise<void> {
    return this.days.add(startsAt.toISOString().slice(0, 10), this.count);
  }
}
