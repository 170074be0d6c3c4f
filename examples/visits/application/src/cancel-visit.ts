import type { IdempotencyKey, Outcome, Precondition } from '@animal-store/kernel';
import { VisitCancelled } from '@animal-store/visits-contract';
import type { Visit, VisitRepository } from '@animal-store/visits-domain';

export class CancelVisit {
  constructor(private readonly visits: VisitRepository) {}

  /** @throws DomainError VISIT_NOT_FOUND, VISIT_NOT_BOOKED, PRECONDITION_FAILED, IDEMPOTENCY_KEY_REUSED */
  execute(id: bigint, precondition: Precondition, key?: IdempotencyKey): Promise<Outcome<Visit>> {
    return this.visits.change(id, {
      name: 'cancelVisit',
      key,
      event: VisitCancelled,
      change: (visit) => {
        precondition(visit);
        return visit.cancel();
      },
    });
  }
}
