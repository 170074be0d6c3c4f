import { BatchedRepository } from '@animal-store/database';
import type { Page, PageRequest } from '@animal-store/kernel';
import type { VisitCatalogue } from '@animal-store/visits-contract';
import { type VisitFilter, VisitReader, type VisitView } from '@animal-store/visits-domain';
import type { DataSource } from 'typeorm';
import { VisitEntity } from './visit.entity.js';

export class TypeOrmVisitReader extends VisitReader implements VisitCatalogue {
  private readonly visits: BatchedRepository<VisitEntity>;

  constructor(dataSource: DataSource) {
    super();
    this.visits = new BatchedRepository(dataSource.getRepository(VisitEntity));
  }

  override find(id: bigint): Promise<VisitView | undefined> {
    return this.visits.findById(id);
  }

  async exists(id: bigint): Promise<boolean> {
    return (await this.find(id)) !== undefined;
  }

  override list(filter: VisitFilter, page: PageRequest): Promise<Page<VisitView>> {
    return this.visits.page(filter, page);
  }
}
