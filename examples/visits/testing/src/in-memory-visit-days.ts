import type { VisitDays } from '@animal-store/visits-domain';

export class InMemoryVisitDays implements VisitDays {
  /** The number of visits by day. */
  readonly counts = new Map<string, number>();

  async add(day: string, visits: number): Promise<void> {
    this.counts.set(day, (this.counts.get(day) ?? 0) + visits);
  }
}
