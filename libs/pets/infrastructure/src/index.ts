export { petsPersistence } from './pets-persistence.js';
export { TypeOrmPetReader } from './typeorm-pet-reader.js';
export { TypeOrmPetRepository } from './typeorm-pet-repository.js';
