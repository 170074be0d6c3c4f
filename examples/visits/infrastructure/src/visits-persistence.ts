import type { Persistence } from '@animal-store/database';
import { CreateVisits1795719992259 } from './migrations/1795719992259-create-visits.js';
import { VisitEntity, VisitIdempotencyKeyEntity } from './visit.entity.js';

export const visitsPersistence: Persistence = {
  schema: 'visits',
  entities: [VisitEntity, VisitIdempotencyKeyEntity],
  migrations: [CreateVisits1795719992259],
};
