import { DomainError } from '@animal-store/kernel';
import { VISIT_NOT_FOUND, type VisitReader, type VisitView } from '@animal-store/visits-domain';

export class GetVisit {
  constructor(private readonly visits: VisitReader) {}

  /** @throws DomainError VISIT_NOT_FOUND */
  async execute(id: bigint): Promise<VisitView> {
    const visit = await this.visits.find(id);
    if (!visit) throw new DomainError(VISIT_NOT_FOUND);
    return visit;
  }
}
