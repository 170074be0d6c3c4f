import { BatchedRepository, throwConstraintErrors } from '@animal-store/database';
import type { IdempotencyKey, Outcome, Page, PageRequest } from '@animal-store/kernel';
import {
  type NewTreatment,
  type Treatment,
  type TreatmentFilter,
  type TreatmentRepository,
  VISIT_NOT_FOUND,
} from '@animal-store/visits-domain';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { TreatmentEntity, TreatmentIdempotencyKeyEntity } from './treatment.entity.js';

const throwDomainErrors = throwConstraintErrors({ treatments_visit_id_fkey: VISIT_NOT_FOUND });

@Injectable()
export class TypeOrmTreatmentRepository implements TreatmentRepository {
  private readonly treatments: BatchedRepository<TreatmentEntity>;

  constructor(dataSource: DataSource) {
    const keys = dataSource.getRepository(TreatmentIdempotencyKeyEntity);
    this.treatments = new BatchedRepository(dataSource.getRepository(TreatmentEntity), keys);
  }

  add(treatment: NewTreatment, key?: IdempotencyKey): Promise<Outcome<Treatment>> {
    return this.treatments.add(treatment, key).catch(throwDomainErrors);
  }

  list(filter: TreatmentFilter, page: PageRequest): Promise<Page<Treatment>> {
    return this.treatments.page(filter, page);
  }
}
