export { type Access, type AccessUseCases, accessUseCases, openAccess } from './access.js';
export { accessPersistence } from './access-persistence.js';
export { PostgresApiKeyRepository } from './postgres-api-key-repository.js';
export { Sha256KeyHasher } from './sha256-key-hasher.js';
