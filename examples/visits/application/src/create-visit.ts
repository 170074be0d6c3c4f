import { DomainError, type IdempotencyKey, type Outcome } from '@animal-store/kernel';
import type { PetCatalogue } from '@animal-store/pets-contract';
import { NewVisit, type NewVisitInput, PET_UNKNOWN, type Visit, type VisitRepository } from '@animal-store/visits-domain';

export class CreateVisit {
  constructor(
    private readonly visits: VisitRepository,
    private readonly pets: PetCatalogue,
  ) {}

  /**
   * Books a visit. If the key was used before, returns what was created with it instead.
   * @throws DomainError INVALID_VISIT, PET_UNKNOWN, VISIT_OVERLAPS, IDEMPOTENCY_KEY_REUSED
   */
  async execute(input: NewVisitInput, key?: IdempotencyKey): Promise<Outcome<Visit>> {
    const visit = NewVisit.create(input);
    if (!(await this.pets.exists(visit.petId))) throw new DomainError(PET_UNKNOWN);
    return key ? this.visits.addOnce(visit, key) : { result: await this.visits.add(visit), replayed: false };
  }
}
