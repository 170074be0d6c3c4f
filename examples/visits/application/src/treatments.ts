import { DomainError, type IdempotencyKey, type Outcome, type Page, type PageRequest } from '@animal-store/kernel';
import {
  NewTreatment,
  type NewTreatmentInput,
  type Treatment,
  type TreatmentFilter,
  type TreatmentRepository,
  VISIT_NOT_FOUND,
  type VisitRepository,
} from '@animal-store/visits-domain';

export class CreateTreatment {
  constructor(private readonly treatments: TreatmentRepository) {}

  /** @throws DomainError INVALID_TREATMENT, VISIT_NOT_FOUND, IDEMPOTENCY_KEY_REUSED */
  async execute(input: NewTreatmentInput, key?: IdempotencyKey): Promise<Outcome<Treatment>> {
    return this.treatments.add(NewTreatment.create(input), key);
  }
}

export class ListTreatments {
  constructor(
    private readonly treatments: TreatmentRepository,
    private readonly visits: Pick<VisitRepository, 'find'>,
  ) {}

  /** @throws DomainError VISIT_NOT_FOUND */
  async execute(filter: TreatmentFilter, request: PageRequest): Promise<Page<Treatment>> {
    const [visit, page] = await Promise.all([this.visits.find(filter.visitId), this.treatments.list(filter, request)]);
    if (!visit) throw new DomainError(VISIT_NOT_FOUND);
    return page;
  }
}
