import type { IdempotencyKey, Outcome, Precondition } from '@animal-store/kernel';
import type { Visit, VisitRepository } from '@animal-store/visits-domain';

export class CheckInVisit {
  constructor(private readonly visits: VisitRepository) {}

  /** @throws DomainError VISIT_NOT_FOUND, VISIT_NOT_BOOKED, PRECONDITION_FAILED, IDEMPOTENCY_KEY_REUSED */
  execute(id: bigint, precondition: Precondition, key?: IdempotencyKey): Promise<Outcome<Visit>> {
    return this.visits.change(id, {
      name: 'checkInVisit',
      key,
      change: (visit) => {
        precondition(visit);
        return visit.checkIn();
      },
    });
  }
}
