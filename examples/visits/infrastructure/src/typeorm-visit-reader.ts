import { BatchedRepository } from '@animal-store/database';
import type { Page, PageRequest } from '@animal-store/kernel';
import { type Visit, type VisitFilter, VisitReader } from '@animal-store/visits-domain';
import type { DataSource } from 'typeorm';
import { VisitEntity } from './visit.entity.js';

export class TypeOrmVisitReader extends VisitReader {
  private readonly visits: BatchedRepository<VisitEntity>;

  constructor(dataSource: DataSource) {
    super();
    this.visits = new BatchedRepository(dataSource.getRepository(VisitEntity));
  }

  override find(id: bigint): Promise<Visit | undefined> {
    return this.visits.findById(id);
  }

  override list(filter: VisitFilter, page: PageRequest<'startsAt'>): Promise<Page<Visit>> {
    return this.visits.page(filter, page);
  }
}
