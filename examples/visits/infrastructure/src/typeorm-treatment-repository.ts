import { BatchedRepository, runOnce, throwConstraintErrors } from '@animal-store/database';
import type { IdempotencyKey, Outcome, Page, PageRequest } from '@animal-store/kernel';
import { type NewTreatment, type Treatment, type TreatmentRepository, VISIT_NOT_FOUND } from '@animal-store/visits-domain';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { TreatmentEntity, VisitIdempotencyKeyEntity } from './visit.entity.js';

const throwDomainErrors = throwConstraintErrors({ treatments_visit_id_fkey: VISIT_NOT_FOUND });

@Injectable()
export class TypeOrmTreatmentRepository implements TreatmentRepository {
  private readonly treatments: BatchedRepository<TreatmentEntity>;

  constructor(private readonly dataSource: DataSource) {
    this.treatments = new BatchedRepository(dataSource.getRepository(TreatmentEntity));
  }

  add({ visitId, name }: NewTreatment, key?: IdempotencyKey): Promise<Outcome<Treatment>> {
    const request = { command: 'addTreatment', visitId, name };
    return runOnce(this.dataSource, VisitIdempotencyKeyEntity, key, request, async (manager) => {
      const row = manager.create(TreatmentEntity, { visitId, name });
      await manager.insert(TreatmentEntity, row).catch(throwDomainErrors);
      return manager.findOneByOrFail(TreatmentEntity, { id: row.id });
    });
  }

  list(visitId: bigint, page: PageRequest): Promise<Page<Treatment>> {
    return this.treatments.page({ visitId }, page);
  }
}
