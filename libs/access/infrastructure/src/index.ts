export { type Access, type AccessUseCases, accessUseCases, openAccess } from './access.js';
export { accessPersistence } from './access-persistence.js';
