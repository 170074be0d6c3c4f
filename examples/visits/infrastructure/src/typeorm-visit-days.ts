import { currentManager } from '@animal-store/database';
import type { VisitDays } from '@animal-store/visits-domain';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { VisitDayEntity } from './visit.entity.js';

@Injectable()
export class TypeOrmVisitDays implements VisitDays {
  constructor(private readonly dataSource: DataSource) {}

  async add(day: string, visits: number): Promise<void> {
    const manager = currentManager(this.dataSource);
    await manager.createQueryBuilder().insert().into(VisitDayEntity).values({ day, visits: 0 }).orIgnore().execute();
    await manager.increment(VisitDayEntity, { day }, 'visits', visits);
  }
}
