import type { Persistence } from '@animal-store/database';
import { CreatePets1763683200000 } from './migrations/1763683200000-create-pets.js';
import { PetEntity, PetIdempotencyKeyEntity } from './pet.entity.js';

export const petsPersistence: Persistence = {
  schema: 'pets',
  entities: [PetEntity, PetIdempotencyKeyEntity],
  migrations: [CreatePets1763683200000],
  privileges: {
    service: [
      'SELECT, INSERT ON pets.pets',
      'USAGE ON SEQUENCE pets.pets_id_seq',
      // Release 1.0.0 requires UPDATE on a column because it deletes expired keys with FOR UPDATE.
      'SELECT, INSERT, DELETE, UPDATE (created_at) ON pets.idempotency_keys',
    ],
  },
};
