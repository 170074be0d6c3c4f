import { DomainError, type Page, type PageRequest } from '@animal-store/kernel';
import { type Visit, VISIT_NOT_FOUND, type VisitFilter, type VisitRepository } from '@animal-store/visits-domain';

export class GetVisit {
  constructor(private readonly visits: VisitRepository) {}

  /** @throws DomainError VISIT_NOT_FOUND */
  async execute(id: bigint): Promise<Visit> {
    const visit = await this.visits.find(id);
    if (!visit) throw new DomainError(VISIT_NOT_FOUND);
    return visit;
  }
}

export class ListVisits {
  constructor(private readonly visits: VisitRepository) {}

  execute(filter: VisitFilter, page: PageRequest<'startsAt'>): Promise<Page<Visit>> {
    return this.visits.list(filter, page);
  }
}
