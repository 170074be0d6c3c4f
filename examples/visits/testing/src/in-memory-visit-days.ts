import type { VisitCalendar } from '@animal-store/visits-contract';
import type { VisitDays } from '@animal-store/visits-domain';

export class InMemoryVisitDays implements VisitDays, VisitCalendar {
  private readonly days = new Map<string, number>();

  async add(day: string, visits: number): Promise<void> {
    this.days.set(day, (await this.countOn(day)) + visits);
  }

  async countOn(day: string): Promise<number> {
    return this.days.get(day) ?? 0;
  }
}
