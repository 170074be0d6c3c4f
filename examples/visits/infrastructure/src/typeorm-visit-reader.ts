import { BatchedRepository } from '@animal-store/database';
import type { Page, PageRequest } from '@animal-store/kernel';
import { type Visit, type VisitFilter, VisitReader, type VisitSummary } from '@animal-store/visits-domain';
import type { DataSource } from 'typeorm';
import { VisitEntity } from './visit.entity.js';

/** The columns of a list: all but the notes. */
const LISTED = ['petId', 'startsAt', 'durationMinutes', 'status', 'reason'] as const;

export class TypeOrmVisitReader extends VisitReader {
  private readonly visits: BatchedRepository<VisitEntity, (typeof LISTED)[number]>;

  constructor(dataSource: DataSource) {
    super();
    this.visits = new BatchedRepository(dataSource.getRepository(VisitEntity), undefined, { columns: LISTED });
  }

  override find(id: bigint): Promise<Visit | undefined> {
    return this.visits.findById(id);
  }

  override list(filter: VisitFilter, page: PageRequest<'startsAt'>): Promise<Page<VisitSummary>> {
    return this.visits.page(filter, page);
  }
}
