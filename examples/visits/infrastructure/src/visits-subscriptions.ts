import { on, subscribe } from '@animal-store/database';
import { CountVisit } from '@animal-store/visits-application';
import { VisitBooked, VisitCancelled } from '@animal-store/visits-contract';
import { TypeOrmVisitDays } from './typeorm-visit-days.js';

export const visitsSubscriptions = [
  subscribe(
    'visits-per-day',
    on(VisitBooked, (manager) => new CountVisit(new TypeOrmVisitDays(manager), 1)),
    on(VisitCancelled, (manager) => new CountVisit(new TypeOrmVisitDays(manager), -1)),
  ),
];
