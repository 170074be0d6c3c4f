import type { APIPromise } from './api-promise.js';
import { isInt64 } from './exact-json.js';
import type { components, operations } from './openapi.generated.js';
import type { CreateOptions, RequestOptions } from './options.js';
import type { PagePromise } from './page.js';
import { listPage, post, retrieve } from './resource.js';
import type { Transport } from './transport.js';

export type Pet = components['schemas']['Pet'];
export type NewPet = components['schemas']['NewPet'];
export type PetStatus = components['schemas']['PetStatus'];
export type PetListParams = NonNullable<operations['listPets']['parameters']['query']>;

/** Returns whether the value is a pet, possibly with a status or members of a later version of the service. */
function isPet(value: unknown): value is Pet {
  const { id, name, categoryId, status } = (value ?? {}) as Record<keyof Pet, unknown>;
  return isInt64(id) && typeof name === 'string' && isInt64(categoryId) && typeof status === 'string';
}

const PETS = { path: '/pets', isResource: isPet };

export class Pets {
  constructor(private readonly transport: Transport) {}

  /** Lists pets in ascending order of their ids. Await it for the first page, or iterate over all pages. */
  list(params: PetListParams = {}, options?: RequestOptions): PagePromise<Pet> {
    return listPage(this.transport, PETS, params, options);
  }

  /** Adds a pet. All attempts have the same idempotency key, so retries never add a second pet. */
  create(pet: NewPet, options: CreateOptions = {}): APIPromise<Pet> {
    return post(this.transport, PETS, pet, options);
  }

  /**
   * Returns the pet with this id.
   * @deprecated The service removes this operation on 5 December 2030. Use `list({ id })`.
   */
  retrieve(id: bigint, options?: RequestOptions): APIPromise<Pet> {
    return retrieve(this.transport, { ...PETS, id }, options);
  }
}
