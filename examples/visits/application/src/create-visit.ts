import type { IdempotencyKey } from '@animal-store/kernel';
import { type CreatedVisit, NewVisit, type NewVisitInput, type VisitRepository } from '@animal-store/visits-domain';

export class CreateVisit {
  constructor(private readonly visits: VisitRepository) {}

  /**
   * A retry with the same key returns what the first request created.
   * @throws DomainError INVALID_VISIT, IDEMPOTENCY_KEY_REUSED
   */
  async execute(input: NewVisitInput, key?: IdempotencyKey): Promise<CreatedVisit> {
    const visit = NewVisit.create(input);
    return key ? this.visits.addOnce(visit, key) : { visit: await this.visits.add(visit), replayed: false };
  }
}
