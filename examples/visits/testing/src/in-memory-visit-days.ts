import { type OrderedPage, type OrderedPageRequest, pageOf } from '@animal-store/kernel';
import type { VisitDay, VisitDayReader, VisitDays } from '@animal-store/visits-domain';

export class InMemoryVisitDays implements VisitDays, VisitDayReader {
  private readonly days: VisitDay[] = [];

  async add(day: string, visits: number): Promise<void> {
    const index = this.days.findIndex((each) => each.day === day);
    const found = this.days[index];
    if (found) this.days[index] = { ...found, visits: found.visits + visits };
    else this.days.push({ id: BigInt(this.days.length + 1), day, visits });
  }

  async list(page: OrderedPageRequest<'day'>): Promise<OrderedPage<VisitDay>> {
    return pageOf(this.days, page);
  }
}
