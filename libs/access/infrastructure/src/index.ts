export { type AccessUseCases, connectAccessUseCases, createAccessUseCases } from './access-use-cases.js';
export { accessPersistence } from './access-persistence.js';
export { TypeOrmApiKeyRepository } from './typeorm-api-key-repository.js';
