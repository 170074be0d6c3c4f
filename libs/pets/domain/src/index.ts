export {
  DEFAULT_PET_STATUS,
  NewPet,
  type NewPetInput,
  Pet,
  PET_NAME_MAX_LENGTH,
  PET_STATUS_RULE,
  PET_STATUSES,
  PetStatus,
  type PetView,
} from './pet.js';
export { PET_NOT_FOUND } from './pet-errors.js';
export { type PetFilter, PetReader } from './pet-reader.js';
export { type CreatedPet, PetRepository } from './pet-repository.js';
