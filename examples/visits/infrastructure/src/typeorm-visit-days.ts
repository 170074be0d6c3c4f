import { BatchedRepository } from '@animal-store/database';
import type { OrderedPage, OrderedPageRequest } from '@animal-store/kernel';
import { type VisitDay, VisitDayReader, VisitDays } from '@animal-store/visits-domain';
import type { DataSource, EntityManager } from 'typeorm';
import { VisitDayEntity } from './visit-day.entity.js';

export class TypeOrmVisitDays extends VisitDays {
  constructor(private readonly manager: EntityManager) {
    super();
  }

  override async add(day: string, visits: number): Promise<void> {
    await this.manager.createQueryBuilder().insert().into(VisitDayEntity).values({ day, visits: 0 }).orIgnore().execute();
    await this.manager.increment(VisitDayEntity, { day }, 'visits', visits);
  }
}

export class TypeOrmVisitDayReader extends VisitDayReader {
  private readonly days: BatchedRepository<VisitDayEntity>;

  constructor(dataSource: DataSource) {
    super();
    this.days = new BatchedRepository(dataSource.getRepository(VisitDayEntity));
  }

  override list(page: OrderedPageRequest<'day'>): Promise<OrderedPage<VisitDay>> {
    return this.days.page({}, page);
  }
}
