import type { EventDefinition, IdempotencyKey, Page, PageRequest, Outcome, Precondition } from '@animal-store/kernel';
import type { NewVisit, Visit, VisitStatus } from './visit.js';

export interface VisitCommand<Result extends Visit | undefined = Visit> {
  /** Distinguishes the commands of one idempotency key. */
  readonly name: string;
  /** What the client sent. A repetition with the key must have the same. */
  readonly input?: object;
  readonly key?: IdempotencyKey | undefined;
  readonly precondition?: Precondition;
  /** Published if the visit changes or is deleted. */
  readonly event?: EventDefinition<{ readonly visitId: bigint; readonly petId: bigint; readonly startsAt: Date }>;
  /** Returns the changed visit, the same object if nothing changes, or undefined to delete the visit and all that belongs to it. */
  readonly change: (visit: Visit) => Result;
}

/** Selects visits that match all members. Undefined members are ignored. */
export interface VisitFilter {
  readonly petId?: bigint | undefined;
  readonly status?: VisitStatus | undefined;
}

/** Stores and reads visits. Several callers may get the same object. */
export abstract class VisitRepository {
  /**
   * Inserts the visit, and resolves after the commit. With a key, inserts it once: if the key exists, returns the visit of the first call, also
   * to concurrent calls.
   * @throws DomainError VISIT_OVERLAPS, IDEMPOTENCY_KEY_REUSED if the key was used with different values
   */
  abstract add(visit: NewVisit, key?: IdempotencyKey): Promise<Outcome<Visit>>;

  /**
   * Runs a command on a visit that no other command changes meanwhile, and stores the visit, the event and the key in one transaction. If
   * the key was used before, returns what the first command stored.
   * @throws DomainError VISIT_NOT_FOUND, VISIT_OVERLAPS, IDEMPOTENCY_KEY_REUSED if the key was used for another command, input or visit
   */
  abstract change<Result extends Visit | undefined>(id: bigint, command: VisitCommand<Result>): Promise<Outcome<Result>>;

  abstract find(id: bigint): Promise<Visit | undefined>;

  abstract list(filter: VisitFilter, page: PageRequest<'startsAt'>): Promise<Page<Visit>>;
}

/** Counts visits per day. */
export abstract class VisitDays {
  /** @param day in UTC, such as 2026-11-26 */
  abstract add(day: string, visits: number): Promise<void>;
}
