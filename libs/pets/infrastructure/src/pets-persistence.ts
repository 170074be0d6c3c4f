import type { Persistence } from '@animal-store/database';
import { CreatePets1763683200000 } from './migrations/1763683200000-create-pets.js';
import { IndexPetsByStatus1763683260000 } from './migrations/1763683260000-index-pets-by-status.js';
import { CreateIdempotencyKeys1763683320000 } from './migrations/1763683320000-create-idempotency-keys.js';
import { RecordRequestsAsJson1763683380000 } from './migrations/1763683380000-record-requests-as-json.js';
import { FillInRecordedRequests1763683440000 } from './migrations/1763683440000-fill-in-recorded-requests.js';
import { PetEntity, PetIdempotencyKeyEntity } from './pet.entity.js';

export const petsPersistence: Persistence = {
  schema: 'pets',
  entities: [PetEntity, PetIdempotencyKeyEntity],
  migrations: [
    CreatePets1763683200000,
    IndexPetsByStatus1763683260000,
    CreateIdempotencyKeys1763683320000,
    RecordRequestsAsJson1763683380000,
    FillInRecordedRequests1763683440000,
  ],
  privileges: {
    service: [
      'SELECT, INSERT ON pets.pets',
      'USAGE ON SEQUENCE pets.pets_id_seq',
      // Release 1.0.0 requires UPDATE on a column because it deletes expired keys with FOR UPDATE.
      'SELECT, INSERT, DELETE, UPDATE (created_at) ON pets.idempotency_keys',
    ],
  },
};
