import {
  DomainError,
  IDEMPOTENCY_KEY_REUSED,
  INT64_RULE,
  isInt64,
  isUtcTime,
  isVisibleText,
  UTC_TIME_RULE,
  visibleTextRule,
} from '@animal-store/kernel';
import { INVALID_VISIT, VISIT_NOT_BOOKED } from './visit-errors.js';

export enum VisitStatus {
  Booked = 'booked',
  CheckedIn = 'checked_in',
  Cancelled = 'cancelled',
}

export const VISIT_STATUS_RULE = `must be one of ${Object.values(VisitStatus).join(', ')}`;

export const VISIT_MINUTES = { minimum: 5, maximum: 480 } as const;
export const VISIT_MINUTES_RULE = `must be an integer from ${String(VISIT_MINUTES.minimum)} to ${String(VISIT_MINUTES.maximum)}`;

export function isVisitMinutes(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= VISIT_MINUTES.minimum && Number(value) <= VISIT_MINUTES.maximum;
}

/** In Unicode code points. */
export const VISIT_REASON_MAX_LENGTH = 200;
export const VISIT_NOTES_MAX_LENGTH = 2000;

/** What a client sends. Not validated. */
export interface NewVisitInput {
  readonly petId: bigint;
  readonly startsAt: Date;
  readonly durationMinutes: number;
  readonly reason: string;
  readonly notes?: string | null | undefined;
}

/** Validated, but not stored yet: it has no identifier. */
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
    const violations = [
      ...(isInt64(petId) ? [] : [`petId ${INT64_RULE}`]),
      ...(isUtcTime(startsAt) ? [] : [`startsAt ${UTC_TIME_RULE}`]),
      ...(isVisitMinutes(durationMinutes) ? [] : [`durationMinutes ${VISIT_MINUTES_RULE}`]),
      ...(isVisibleText(reason, VISIT_REASON_MAX_LENGTH) ? [] : [`reason ${visibleTextRule(VISIT_REASON_MAX_LENGTH)}`]),
      ...(notes === null || isVisibleText(notes, VISIT_NOTES_MAX_LENGTH) ? [] : [`notes ${visibleTextRule(VISIT_NOTES_MAX_LENGTH)}`]),
    ];
    if (violations.length > 0) throw new DomainError(INVALID_VISIT, violations.join('; '));
    return new NewVisit(petId, startsAt, durationMinutes, VisitStatus.Booked, reason, notes);
  }

  /**
   * Compares what a client sent with what an earlier request with the same Idempotency-Key created.
   * @throws DomainError IDEMPOTENCY_KEY_REUSED if a field differs
   */
  assertSameAs({ petId, startsAt, durationMinutes, reason, notes }: Visit): void {
    const isSame =
      this.petId === petId &&
      this.startsAt.getTime() === startsAt.getTime() &&
      this.durationMinutes === durationMinutes &&
      this.reason === reason &&
      this.notes === notes;
    if (!isSame) throw new DomainError(IDEMPOTENCY_KEY_REUSED);
  }
}

/** An appointment of an animal. */
export class Visit {
  private constructor(
    /** Assigned by the store, never reused; any int64. */
    readonly id: bigint,
    readonly petId: bigint,
    readonly startsAt: Date,
    readonly durationMinutes: number,
    readonly status: VisitStatus,
    readonly reason: string,
    readonly notes: string | null,
  ) {}

  /** Does not validate: the store accepts only what `NewVisit.create` accepts. */
  static rehydrate({ id, petId, startsAt, durationMinutes, status, reason, notes }: VisitView): Visit {
    return new Visit(id, petId, startsAt, durationMinutes, status, reason, notes);
  }

  isBooked(): boolean {
    return this.status === VisitStatus.Booked;
  }

  /** @throws DomainError VISIT_NOT_BOOKED */
  checkIn(): Visit {
    return this.moveTo(VisitStatus.CheckedIn);
  }

  /** @throws DomainError VISIT_NOT_BOOKED */
  cancel(): Visit {
    return this.moveTo(VisitStatus.Cancelled);
  }

  private moveTo(status: VisitStatus): Visit {
    if (!this.isBooked()) throw new DomainError(VISIT_NOT_BOOKED);
    return Visit.rehydrate({ ...this, status });
  }
}

/** A row as a reader returns it: the fields without the methods. */
export type VisitView = {
  readonly [Field in keyof Visit as Visit[Field] extends (...args: never) => unknown ? never : Field]: Visit[Field];
};

/** A visit in a list. */
export type VisitSummary = Omit<VisitView, 'notes'>;
