import type { Persistence } from '@animal-store/database';
import { CreatePets1763683200000 } from './migrations/1763683200000-create-pets.js';
import { PetEntity, PetIdempotencyKeyEntity } from './pet.entity.js';

export const petsPersistence: Persistence = {
  schema: 'pets',
  entities: [PetEntity, PetIdempotencyKeyEntity],
  migrations: [CreatePets1763683200000],
  lists: [{ entity: PetEntity, filters: [[], ['status']] }],
  privileges: {
    service: ['SELECT, INSERT ON pets.pets', 'USAGE ON SEQUENCE pets.pets_id_seq', 'SELECT, INSERT, DELETE ON pets.idempotency_keys'],
  },
};
