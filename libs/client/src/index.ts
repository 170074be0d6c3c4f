export { AnimalStore } from './animal-store.js';
export { APIPromise, type WithResponse } from './api-promise.js';
export {
  AnimalStoreError,
  APIConnectionError,
  APIConnectionTimeoutError,
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  type ErrorCode,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  PreconditionFailedError,
  PreconditionRequiredError,
  RateLimitError,
  UnprocessableEntityError,
} from './errors.js';
export { type CachedResponse, MemoryCache, type ResponseCache } from './memory-cache.js';
export type { ClientOptions, CreateOptions, Hooks, RequestAttempt, RequestOptions, ResponseInfo } from './options.js';
export { Page, PagePromise } from './page.js';
export type { NewPet, Pet, PetListParams, Pets, PetStatus } from './pets.js';
