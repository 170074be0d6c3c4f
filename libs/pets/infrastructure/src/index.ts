export { petsPersistence } from './pets-persistence.js';
export { TypeOrmPetRepository } from './typeorm-pet-repository.js';
