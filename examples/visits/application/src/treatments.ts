import {
  DomainError,
  type IdempotencyKey,
  isVisibleText,
  type Outcome,
  type Page,
  type PageRequest,
  visibleTextRule,
} from '@animal-store/kernel';
import {
  INVALID_VISIT,
  type NewTreatment,
  type Treatment,
  TREATMENT_NAME_MAX_LENGTH,
  type TreatmentRepository,
  VISIT_NOT_FOUND,
  type VisitRepository,
} from '@animal-store/visits-domain';

export class AddTreatment {
  constructor(private readonly treatments: TreatmentRepository) {}

  /** @throws DomainError INVALID_VISIT, VISIT_NOT_FOUND, IDEMPOTENCY_KEY_REUSED */
  async execute(treatment: NewTreatment, key?: IdempotencyKey): Promise<Outcome<Treatment>> {
    if (!isVisibleText(treatment.name, TREATMENT_NAME_MAX_LENGTH))
      throw new DomainError(INVALID_VISIT, `name ${visibleTextRule(TREATMENT_NAME_MAX_LENGTH)}`);
    return this.treatments.add(treatment, key);
  }
}

export class ListTreatments {
  constructor(
    private readonly treatments: TreatmentRepository,
    private readonly visits: VisitRepository,
  ) {}

  /** @throws DomainError VISIT_NOT_FOUND */
  async execute(visitId: bigint, page: PageRequest): Promise<Page<Treatment>> {
    if (!(await this.visits.find(visitId))) throw new DomainError(VISIT_NOT_FOUND);
    return this.treatments.list(visitId, page);
  }
}
