import type { EventDefinition, IdempotencyKey, Page, PageRequest, Outcome, Precondition } from '@animal-store/kernel';
import type { NewVisit, Visit, VisitStatus } from './visit.js';

export interface VisitCommand {
  /** Distinguishes the commands of one idempotency key. */
  readonly name: string;
  readonly key?: IdempotencyKey | undefined;
  readonly precondition?: Precondition;
  /** Published if the visit changes. */
  readonly event?: EventDefinition<{ readonly visitId: bigint; readonly petId: bigint; readonly startsAt: Date }>;
  /** Returns the changed visit, or the same object if nothing changes. */
  readonly change: (visit: Visit) => Visit;
}

/** Selects visits that match all members. Undefined members are ignored. */
export interface VisitFilter {
  readonly petId?: bigint | undefined;
  readonly status?: VisitStatus | undefined;
}

/** Stores and reads visits. Several callers may get the same object. */
export abstract class VisitRepository {
  /**
   * Assigns an identifier and inserts the visit. Resolves after the commit.
   * @throws DomainError VISIT_OVERLAPS
   */
  abstract add(visit: NewVisit): Promise<Visit>;

  /**
   * Inserts the visit and its key in one transaction. If the key was used before, returns what was created with it instead, also to
   * concurrent retries.
   * @throws DomainError VISIT_OVERLAPS, IDEMPOTENCY_KEY_REUSED if the key was used with different values
   */
  abstract addOnce(visit: NewVisit, key: IdempotencyKey): Promise<Outcome<Visit>>;

  /**
   * Runs a command on a visit that no other command changes meanwhile, and stores the visit, the event and the key in one transaction. If
   * the key was used before, returns what the first command stored.
   * @throws DomainError VISIT_NOT_FOUND, IDEMPOTENCY_KEY_REUSED if the key was used for another command or visit
   */
  abstract change(id: bigint, command: VisitCommand): Promise<Outcome<Visit>>;

  abstract find(id: bigint): Promise<Visit | undefined>;

  abstract list(filter: VisitFilter, page: PageRequest<'startsAt'>): Promise<Page<Visit>>;
}

/** Counts visits per day. */
export abstract class VisitDays {
  /** @param day in UTC, such as 2026-11-26 */
  abstract add(day: string, visits: number): Promise<void>;
}
