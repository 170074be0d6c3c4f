import type { IdempotencyKey, Outcome, Page, PageRequest } from '@animal-store/kernel';

/** In Unicode code points. */
export const TREATMENT_NAME_MAX_LENGTH = 200;

export interface NewTreatment {
  readonly visitId: bigint;
  readonly name: string;
}

/** What was done at a visit. */
export interface Treatment extends NewTreatment {
  readonly id: bigint;
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
