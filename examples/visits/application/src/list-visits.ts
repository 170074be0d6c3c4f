import type { OrderedPage, OrderedPageRequest } from '@animal-store/kernel';
import type { VisitFilter, VisitReader, VisitSummary } from '@animal-store/visits-domain';

export class ListVisits {
  constructor(private readonly visits: VisitReader) {}

  execute(filter: VisitFilter, page: OrderedPageRequest<'startsAt'>): Promise<OrderedPage<VisitSummary>> {
    return this.visits.list(filter, page);
  }
}
