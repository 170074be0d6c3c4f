export { visitsPersistence } from './visits-persistence.js';
export { TypeOrmVisitReader } from './typeorm-visit-reader.js';
export { TypeOrmVisitRepository } from './typeorm-visit-repository.js';
