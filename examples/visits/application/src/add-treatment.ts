import type { IdempotencyKey, Outcome } from '@animal-store/kernel';
import { NewTreatment, type Treatment, type TreatmentRepository } from '@animal-store/visits-domain';

export class AddTreatment {
  constructor(private readonly treatments: TreatmentRepository) {}

  /** @throws DomainError INVALID_TREATMENT, VISIT_NOT_FOUND, IDEMPOTENCY_KEY_REUSED */
  async execute(visitId: bigint, input: { readonly name: string }, key?: IdempotencyKey): Promise<Outcome<Treatment>> {
    return this.treatments.add(NewTreatment.create(visitId, input), key);
  }
}
