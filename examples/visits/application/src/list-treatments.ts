import { DomainError, type Page, type PageRequest } from '@animal-store/kernel';
import { type Treatment, type TreatmentRepository, VISIT_NOT_FOUND, type VisitReader } from '@animal-store/visits-domain';

export class ListTreatments {
  constructor(
    private readonly treatments: TreatmentRepository,
    private readonly visits: VisitReader,
  ) {}

  /** @throws DomainError VISIT_NOT_FOUND */
  async execute(visitId: bigint, page: PageRequest): Promise<Page<Treatment>> {
    if (!(await this.visits.find(visitId))) throw new DomainError(VISIT_NOT_FOUND);
    return this.treatments.list(visitId, page);
  }
}
