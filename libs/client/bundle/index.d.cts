export { AnimalStore } from './animal-store.cjs';
export { APIPromise, type WithResponse } from './api-promise.cjs';
export { AnimalStoreError, APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError, AuthenticationError, BadRequestError, ConflictError, type ErrorCode, InternalServerError, NotFoundError, PermissionDeniedError, PreconditionFailedError, PreconditionRequiredError, RateLimitError, UnprocessableEntityError, } from './errors.cjs';
export { type CachedResponse, MemoryCache, type ResponseCache } from './memory-cache.cjs';
export type { ClientOptions, CreateOptions, Hooks, RequestAttempt, RequestOptions, ResponseInfo } from './options.cjs';
export { Page, PagePromise } from './page.cjs';
export type { NewPet, Pet, PetListParams, Pets, PetStatus } from './pets.cjs';
