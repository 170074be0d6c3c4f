export type { CreatedPet, IdempotencyKey } from './idempotency.js';
export { NewPet, type NewPetInput, Pet, type PetView } from './pet.js';
export { MAX_PAGE_LENGTH, PetCatalogue, type PetListQuery, type PetPage } from './pet-catalogue.js';
export { IDEMPOTENCY_KEY_REUSED, PET_NOT_FOUND } from './pet-errors.js';
export { type CategoryId, INT64_RULE, isCategoryId, parsePetId, type PetId } from './pet-id.js';
export { isPetName, PET_NAME_MAX_LENGTH, PET_NAME_RULE, type PetName } from './pet-name.js';
export { PetRepository } from './pet-repository.js';
export { DEFAULT_PET_STATUS, isPetStatus, PET_STATUSES, type PetStatus } from './pet-status.js';
