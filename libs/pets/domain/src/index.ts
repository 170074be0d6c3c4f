export {
  DEFAULT_PET_STATUS,
  NewPet,
  type NewPetInput,
  type Pet,
  PET_NAME_MAX_LENGTH,
  PET_STATUS_RULE,
  PET_STATUSES,
  PetStatus,
} from './pet.js';
export { PET_NOT_FOUND } from './pet-errors.js';
export { type PetFilter, PetRepository } from './pet-repository.js';
