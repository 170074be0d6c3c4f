import { DomainError, INT64_RULE, isInt64, isUtcTime, isVisibleText, UTC_TIME_RULE, visibleTextRule } from '@animal-store/kernel';
import { INVALID_VISIT, VISIT_NOT_BOOKED } from './visit-errors.js';

export enum VisitStatus {
  Booked = 'booked',
  CheckedIn = 'checked_in',
  Cancelled = 'cancelled',
}

export const VISIT_MINUTES = { minimum: 5, maximum: 480 } as const;
export const VISIT_MINUTES_RULE = `must be an integer from ${String(VISIT_MINUTES.minimum)} to ${String(VISIT_MINUTES.maximum)}`;

export function isVisitMinutes(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= VISIT_MINUTES.minimum && Number(value) <= VISIT_MINUTES.maximum;
}

/** In Unicode code points. */
export const VISIT_REASON_MAX_LENGTH = 200;
export const VISIT_NOTES_MAX_LENGTH = 2000;

/** A client's input, not validated. */
export interface NewVisitInput {
  readonly petId: bigint;
  readonly startsAt: Date;
  readonly durationMinutes: number;
  readonly reason: string;
  readonly notes?: string | null | undefined;
}

/** What a client may change. Absent members stay as they are. */
export type VisitChanges = Partial<Pick<NewVisitInput, 'durationMinutes' | 'reason' | 'notes'>>;

/** A visit that is not stored yet, and has no identifier. */
export class NewVisit {
  private constructor(
    readonly petId: bigint,
    readonly startsAt: Date,
    readonly durationMinutes: number,
    readonly status: VisitStatus,
    readonly reason: string,
    readonly notes: string | null,
  ) {}

  /** @throws DomainError INVALID_VISIT, which names each invalid field and its rule */
  static create({ petId, startsAt, durationMinutes, reason, notes = null }: NewVisitInput): NewVisit {
    assertValid({ petId, startsAt, durationMinutes, reason, notes });
    return new NewVisit(petId, startsAt, durationMinutes, VisitStatus.Booked, reason, notes);
  }
}

/** An appointment of an animal. The store accepts only what `NewVisit.create` accepts. */
export interface Visit extends NewVisit {
  /** Assigned by the store, never reused; any int64. */
  readonly id: bigint;
}

/** @throws DomainError VISIT_NOT_BOOKED */
export function moveVisit(visit: Visit, status: VisitStatus): Visit {
  assertBooked(visit);
  return { ...visit, status };
}

/** @throws DomainError VISIT_NOT_BOOKED, INVALID_VISIT */
export function changeVisit(visit: Visit, changes: VisitChanges): Visit {
  assertBooked(visit);
  const changed = { ...visit, ...changes } as Visit;
  assertValid(changed);
  return changed;
}

/** @throws DomainError VISIT_NOT_BOOKED */
export function assertBooked({ status }: Visit): void {
  if (status !== VisitStatus.Booked) throw new DomainError(VISIT_NOT_BOOKED);
}

function assertValid({ petId, startsAt, durationMinutes, reason, notes }: NewVisitInput): void {
  const violations = [
    ...(isInt64(petId) ? [] : [`petId ${INT64_RULE}`]),
    ...(isUtcTime(startsAt) ? [] : [`startsAt ${UTC_TIME_RULE}`]),
    ...(isVisitMinutes(durationMinutes) ? [] : [`durationMinutes ${VISIT_MINUTES_RULE}`]),
    ...(isVisibleText(reason, VISIT_REASON_MAX_LENGTH) ? [] : [`reason ${visibleTextRule(VISIT_REASON_MAX_LENGTH)}`]),
    ...(notes === null || isVisibleText(notes, VISIT_NOTES_MAX_LENGTH) ? [] : [`notes ${visibleTextRule(VISIT_NOTES_MAX_LENGTH)}`]),
  ];
  if (violations.length > 0) throw new DomainError(INVALID_VISIT, violations.join('; '));
}
