import type { IdempotencyKey, Outcome } from '@animal-store/kernel';

export const REPORT_MAX_BYTES = 5 * 1024 * 1024;

/** The report of the vet on a visit, a PDF. */
export interface VisitReport {
  /** Identifier of the visit. */
  readonly id: bigint;
  readonly size: number;
}

/** Stores the reports of visits. */
export abstract class VisitReportRepository {
  /**
   * Adds the report of a visit, once for a key.
   * @throws DomainError VISIT_NOT_FOUND, REPORT_EXISTS, IDEMPOTENCY_KEY_REUSED if the key was used with another visit or report
   */
  abstract add(visitId: bigint, pdf: Uint8Array, key?: IdempotencyKey): Promise<Outcome<VisitReport>>;

  abstract find(visitId: bigint): Promise<Uint8Array | undefined>;
}
