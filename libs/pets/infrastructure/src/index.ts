export { petsPersistence } from './pets-persistence.js';
export { PostgresPetCatalogue } from './postgres-pet-catalogue.js';
export { PostgresPetRepository } from './postgres-pet-repository.js';
