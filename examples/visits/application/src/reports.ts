import { DomainError, type IdempotencyKey, type Outcome } from '@animal-store/kernel';
import { REPORT_NOT_FOUND, type VisitReport, type VisitReportRepository } from '@animal-store/visits-domain';

export class AddReport {
  constructor(private readonly reports: VisitReportRepository) {}

  /** @throws DomainError VISIT_NOT_FOUND, REPORT_EXISTS, IDEMPOTENCY_KEY_REUSED */
  execute(visitId: bigint, pdf: Uint8Array, key?: IdempotencyKey): Promise<Outcome<VisitReport>> {
    return this.reports.add(visitId, pdf, key);
  }
}

export class GetReport {
  constructor(private readonly reports: VisitReportRepository) {}

  /** @throws DomainError REPORT_NOT_FOUND */
  async execute(visitId: bigint): Promise<Uint8Array> {
    const pdf = await this.reports.find(visitId);
    if (!pdf) throw new DomainError(REPORT_NOT_FOUND);
    return pdf;
  }
}
