import type { IdempotencyKey, Outcome, Page, PageRequest } from '@animal-store/kernel';
import type { NewTreatment, Treatment } from './treatment.js';

/** Selects the treatments of a visit. */
export interface TreatmentFilter {
  readonly visitId: bigint;
}

/** Stores and reads the treatments of visits. */
export abstract class TreatmentRepository {
  /**
   * Adds the treatment, once for a key.
   * @throws DomainError VISIT_NOT_FOUND, IDEMPOTENCY_KEY_REUSED if the key was used with different values
   */
  abstract add(treatment: NewTreatment, key?: IdempotencyKey): Promise<Outcome<Treatment>>;

  abstract list(filter: TreatmentFilter, page: PageRequest): Promise<Page<Treatment>>;
}
