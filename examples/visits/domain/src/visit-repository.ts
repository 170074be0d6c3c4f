import type { IdempotencyKey } from '@animal-store/kernel';
import type { NewVisit, Visit } from './visit.js';

export interface CreatedVisit {
  readonly visit: Visit;
  /** True if an earlier request with the same key created it. */
  readonly replayed: boolean;
}

/** Stores visits. */
export abstract class VisitRepository {
  /** Assigns an identifier and inserts the visit. Resolves after the commit. */
  abstract add(visit: NewVisit): Promise<Visit>;

  /**
   * Inserts the visit and its key in one transaction. If the key was used before, returns what was created with it instead, also to
   * concurrent retries.
   * @throws DomainError IDEMPOTENCY_KEY_REUSED if the key was used with different values
   */
  abstract addOnce(visit: NewVisit, key: IdempotencyKey): Promise<CreatedVisit>;
}
