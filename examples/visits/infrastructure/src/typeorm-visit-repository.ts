import { BatchedRepository } from '@animal-store/database';
import type { IdempotencyKey } from '@animal-store/kernel';
import { type CreatedVisit, type NewVisit, Visit, VisitRepository } from '@animal-store/visits-domain';
import type { DataSource } from 'typeorm';
import { VisitEntity, VisitIdempotencyKeyEntity } from './visit.entity.js';

export class TypeOrmVisitRepository extends VisitRepository {
  private readonly visits: BatchedRepository<VisitEntity>;

  constructor(dataSource: DataSource) {
    super();
    this.visits = new BatchedRepository(dataSource.getRepository(VisitEntity), dataSource.getRepository(VisitIdempotencyKeyEntity));
  }

  override async add(visit: NewVisit): Promise<Visit> {
    return Visit.rehydrate({ id: await this.visits.insert(visit), ...visit });
  }

  override async addOnce(visit: NewVisit, key: IdempotencyKey): Promise<CreatedVisit> {
    const { id, row, replayed } = await this.visits.insertOnce(visit, key);
    const recorded = Visit.rehydrate({ id, ...row });
    if (replayed) visit.assertSameAs(recorded);
    return { visit: recorded, replayed };
  }
}
