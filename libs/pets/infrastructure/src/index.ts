export { GroupedPetRepository } from './grouped-pet-repository.js';
export { petsPersistence } from './pets-persistence.js';
export { PostgresPetCatalogue } from './postgres-pet-catalogue.js';
export { PostgresPetRepository } from './postgres-pet-repository.js';
export { SharedPetCatalogue } from './shared-pet-catalogue.js';
