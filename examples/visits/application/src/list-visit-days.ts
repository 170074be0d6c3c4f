import type { OrderedPage, OrderedPageRequest } from '@animal-store/kernel';
import type { VisitDay, VisitDayReader } from '@animal-store/visits-domain';

export class ListVisitDays {
  constructor(private readonly days: VisitDayReader) {}

  execute(page: OrderedPageRequest<'day'>): Promise<OrderedPage<VisitDay>> {
    return this.days.list(page);
  }
}
