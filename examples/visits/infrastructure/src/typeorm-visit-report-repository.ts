import { hash } from 'node:crypto';
import { runOnce, throwConstraintErrors } from '@animal-store/database';
import type { IdempotencyKey, Outcome } from '@animal-store/kernel';
import { REPORT_EXISTS, VISIT_NOT_FOUND, type VisitReport, type VisitReportRepository } from '@animal-store/visits-domain';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ReportEntity, VisitIdempotencyKeyEntity } from './visit.entity.js';

const throwDomainErrors = throwConstraintErrors({ reports_pkey: REPORT_EXISTS, reports_visit_id_fkey: VISIT_NOT_FOUND });

@Injectable()
export class TypeOrmVisitReportRepository implements VisitReportRepository {
  constructor(private readonly dataSource: DataSource) {}

  add(visitId: bigint, pdf: Uint8Array, key?: IdempotencyKey): Promise<Outcome<VisitReport>> {
    const request = { command: 'addReport', visitId, sha256: hash('sha256', pdf) };
    return runOnce(this.dataSource, VisitIdempotencyKeyEntity, key, request, async (manager) => {
      await manager.insert(ReportEntity, { visitId, pdf }).catch(throwDomainErrors);
      return { id: visitId, size: pdf.length };
    });
  }

  async find(visitId: bigint): Promise<Uint8Array | undefined> {
    return (await this.dataSource.getRepository(ReportEntity).findOneBy({ visitId }))?.pdf;
  }
}
