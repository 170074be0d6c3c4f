import type { Page, PageRequest } from '@animal-store/kernel';
import type { VisitFilter, VisitReader, VisitView } from '@animal-store/visits-domain';

export class ListVisits {
  constructor(private readonly visits: VisitReader) {}

  execute(filter: VisitFilter, page: PageRequest): Promise<Page<VisitView>> {
    return this.visits.list(filter, page);
  }
}
