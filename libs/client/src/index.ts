export { AnimalStore } from './animal-store.js';
export { APIPromise, type WithResponse } from './api-promise.js';
export { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError, type ErrorCode } from './errors.js';
export type { ClientOptions, CreateOptions, RequestOptions } from './options.js';
export { Page, PagePromise } from './page.js';
export type { NewPet, Pet, PetListParams, Pets, PetStatus } from './pets.js';
