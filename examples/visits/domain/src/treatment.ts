import {
  DomainError,
  type IdempotencyKey,
  isVisibleText,
  type Outcome,
  type Page,
  type PageRequest,
  visibleTextRule,
} from '@animal-store/kernel';
import { INVALID_TREATMENT } from './visit-errors.js';

/** In Unicode code points. */
export const TREATMENT_NAME_MAX_LENGTH = 200;

/** What was done at a visit. */
export interface Treatment {
  readonly id: bigint;
  readonly visitId: bigint;
  readonly name: string;
}

/** Validated, but not stored yet: it has no identifier. */
export class NewTreatment {
  private constructor(
    readonly visitId: bigint,
    readonly name: string,
  ) {}

  /** @throws DomainError INVALID_TREATMENT */
  static create(visitId: bigint, { name }: { readonly name: string }): NewTreatment {
    if (!isVisibleText(name, TREATMENT_NAME_MAX_LENGTH))
      throw new DomainError(INVALID_TREATMENT, `name ${visibleTextRule(TREATMENT_NAME_MAX_LENGTH)}`);
    return new NewTreatment(visitId, name);
  }
}

/** Stores and reads the treatments of visits. */
export abstract class TreatmentRepository {
  /**
   * Adds the treatment, once for a key.
   * @throws DomainError VISIT_NOT_FOUND, IDEMPOTENCY_KEY_REUSED if the key was used with different values
   */
  abstract add(treatment: NewTreatment, key?: IdempotencyKey): Promise<Outcome<Treatment>>;

  abstract list(visitId: bigint, page: PageRequest): Promise<Page<Treatment>>;
}
