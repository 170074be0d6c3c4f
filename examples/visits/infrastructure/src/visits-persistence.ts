import type { Persistence } from '@animal-store/database';
import { CreateVisits1795719992259 } from './migrations/1795719992259-create-visits.js';
import { ReportEntity, TreatmentEntity, VisitDayEntity, VisitEntity, VisitIdempotencyKeyEntity } from './visit.entity.js';

export const visitsPersistence: Persistence = {
  schema: 'visits',
  // An exclusion constraint, and subscriptions to events, need one database server.
  sharded: false,
  entities: [VisitEntity, VisitIdempotencyKeyEntity, TreatmentEntity, VisitDayEntity, ReportEntity],
  lists: [
    { entity: VisitEntity, orderBy: 'startsAt', filters: [[], ['petId'], ['status'], ['petId', 'status']] },
    { entity: TreatmentEntity, filters: [['visitId']] },
  ],
  migrations: [CreateVisits1795719992259],
};
