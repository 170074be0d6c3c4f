import type { Persistence } from '@animal-store/database';
import { CreateVisits1795719992259 } from './migrations/1795719992259-create-visits.js';
import { TreatmentEntity, TreatmentIdempotencyKeyEntity } from './treatment.entity.js';
import { ReportEntity, VisitDayEntity, VisitEntity, VisitIdempotencyKeyEntity } from './visit.entity.js';

export const visitsPersistence: Persistence = {
  schema: 'visits',
  // An exclusion constraint, and subscriptions to events, need one database server.
  sharded: false,
  entities: [VisitEntity, VisitIdempotencyKeyEntity, TreatmentEntity, TreatmentIdempotencyKeyEntity, VisitDayEntity, ReportEntity],
  lists: [
    { entity: VisitEntity, orderBy: 'startsAt', filters: [[], ['petId'], ['status'], ['petId', 'status']] },
    { entity: TreatmentEntity, filters: [['visitId']] },
  ],
  migrations: [CreateVisits1795719992259],
};
