import { on, subscribe } from '@animal-store/database';
import { CountVisit } from '@animal-store/visits-application';
import { VisitBooked, VisitCancelled } from '@animal-store/visits-contract';
import { VisitDays } from '@animal-store/visits-domain';
import type { EntityManager } from 'typeorm';
import { VisitDayEntity } from './visit.entity.js';

export class TypeOrmVisitDays extends VisitDays {
  constructor(private readonly manager: EntityManager) {
    super();
  }

  override async add(day: string, visits: number): Promise<void> {
    await this.manager.createQueryBuilder().insert().into(VisitDayEntity).values({ day, visits: 0 }).orIgnore().execute();
    await this.manager.increment(VisitDayEntity, { day }, 'visits', visits);
  }
}

export const visitsSubscriptions = [
  subscribe(
    'visits-per-day',
    on(VisitBooked, (manager) => new CountVisit(new TypeOrmVisitDays(manager), 1)),
    on(VisitCancelled, (manager) => new CountVisit(new TypeOrmVisitDays(manager), -1)),
  ),
];
