import type { IdempotencyKey, Outcome, Precondition } from '@animal-store/kernel';
import { VisitCancelled } from '@animal-store/visits-contract';
import type { Visit, VisitRepository } from '@animal-store/visits-domain';

/** Both throw DomainError VISIT_NOT_FOUND, VISIT_NOT_BOOKED, PRECONDITION_FAILED and IDEMPOTENCY_KEY_REUSED. */
export class CheckInVisit {
  constructor(private readonly visits: VisitRepository) {}

  execute(id: bigint, precondition: Precondition, key?: IdempotencyKey): Promise<Outcome<Visit>> {
    return this.visits.change(id, { name: 'checkInVisit', key, precondition, change: (visit) => visit.checkIn() });
  }
}

export class CancelVisit {
  constructor(private readonly visits: VisitRepository) {}

  execute(id: bigint, precondition: Precondition, key?: IdempotencyKey): Promise<Outcome<Visit>> {
    return this.visits.change(id, { name: 'cancelVisit', key, precondition, change: (visit) => visit.cancel(), event: VisitCancelled });
  }
}
