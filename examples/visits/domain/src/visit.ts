import { DomainError, IDEMPOTENCY_KEY_REUSED, isVisibleText, visibleTextRule } from '@animal-store/kernel';
import { INVALID_VISIT } from './visit-errors.js';

/** In Unicode code points. */
export const VISIT_NAME_MAX_LENGTH = 255;

const VISIT_NAME_RULE = visibleTextRule(VISIT_NAME_MAX_LENGTH);

export function isVisitName(value: unknown): value is string {
  return isVisibleText(value, VISIT_NAME_MAX_LENGTH);
}

/** What a client sends. Not validated. */
export interface NewVisitInput {
  readonly name: string;
}

/** Validated, but not stored yet: it has no identifier. */
export class NewVisit {
  private constructor(readonly name: string) {}

  /** @throws DomainError INVALID_VISIT, which names each invalid field and its rule */
  static create({ name }: NewVisitInput): NewVisit {
    const violations = [...(isVisitName(name) ? [] : [`name ${VISIT_NAME_RULE}`])];
    if (violations.length > 0) throw new DomainError(INVALID_VISIT, violations.join('; '));
    return new NewVisit(name);
  }

  /**
   * Compares all fields with what an earlier request with the same Idempotency-Key created.
   * @throws DomainError IDEMPOTENCY_KEY_REUSED if a field differs
   */
  assertSameAs({ name }: Visit): void {
    const isSame = this.name === name;
    if (!isSame) throw new DomainError(IDEMPOTENCY_KEY_REUSED);
  }
}

export class Visit {
  private constructor(
    /** Assigned by the store, never reused; any int64. */
    readonly id: bigint,
    readonly name: string,
  ) {}

  /** Does not validate: the store accepts only what `NewVisit.create` accepts. */
  static rehydrate({ id, name }: VisitView): Visit {
    return new Visit(id, name);
  }
}

/** A row as a reader returns it: the fields without the methods. */
export type VisitView = {
  readonly [Field in keyof Visit as Visit[Field] extends (...args: never) => unknown ? never : Field]: Visit[Field];
};
