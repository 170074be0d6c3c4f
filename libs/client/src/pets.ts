import type { APIPromise } from './api-promise.js';
import type { components, operations } from './openapi.generated.js';
import type { CreateOptions, RequestOptions } from './options.js';
import type { PagePromise } from './page.js';
import { create, listPage, retrieve } from './resource.js';
import type { Transport } from './transport.js';

export type Pet = components['schemas']['Pet'];
export type NewPet = components['schemas']['NewPet'];
export type PetStatus = components['schemas']['PetStatus'];
export type PetListParams = NonNullable<operations['listPets']['parameters']['query']>;

export class Pets {
  constructor(private readonly transport: Transport) {}

  /** Lists pets in ascending order of their ids. Await it for the first page, or iterate over all pages. */
  list(params: PetListParams = {}, options?: RequestOptions): PagePromise<Pet> {
    // Release 1.0.0 ignores the parameter `id`.
    const accepts = (pets: unknown) =>
      params.id === undefined || (Array.isArray(pets) && (pets as Pet[]).every(({ id }) => id === params.id));
    return listPage(this.transport, { operation: 'listPets', path: '/pets', accepts }, params, options);
  }

  /** Adds a pet. All attempts have the same idempotency key, so retries never add a second pet. */
  create(pet: NewPet, options: CreateOptions = {}): APIPromise<Pet> {
    return create(this.transport, { operation: 'createPet', path: '/pets' }, pet, options);
  }

  /**
   * Returns the pet with this id.
   * @deprecated The service removes this operation on 5 December 2030. Use `list({ id })`.
   */
  retrieve(id: bigint, options?: RequestOptions): APIPromise<Pet> {
    return retrieve(this.transport, { operation: 'getPet', path: '/pets' }, id, options);
  }
}
