import { APIPromise } from './api-promise.js';
import type { components, operations } from './openapi.generated.js';
import type { CreateOptions, RequestOptions } from './options.js';
import { PagePromise } from './page.js';
import type { Transport } from './transport.js';

export type Pet = components['schemas']['Pet'];
export type NewPet = components['schemas']['NewPet'];
export type PetStatus = components['schemas']['PetStatus'];
export type PetListParams = NonNullable<operations['listPets']['parameters']['query']>;

export class Pets {
  constructor(private readonly transport: Transport) {}

  /** Lists pets in ascending order of their ids. Await it for the first page, or iterate over all pages. */
  list(params: PetListParams = {}, options?: RequestOptions): PagePromise<Pet> {
    return this.listPage(params, options);
  }

  /** Adds a pet. All attempts have the same idempotency key, so retries never add a second pet. */
  create(pet: NewPet, options: CreateOptions = {}): APIPromise<Pet> {
    const { idempotencyKey = randomKey(), ...requestOptions } = options;
    return new APIPromise(
      this.transport.send({ operation: 'createPet', method: 'POST', path: '/pets', body: pet, idempotencyKey }, requestOptions),
      ({ body }) => body as Pet,
    );
  }

  /**
   * Returns the pet with this id.
   * @deprecated The service removes this operation on 5 December 2030. Use `list({ id })`.
   */
  retrieve(id: bigint, options?: RequestOptions): APIPromise<Pet> {
    return new APIPromise(
      this.transport.send({ operation: 'getPet', method: 'GET', path: '/pets', id }, options),
      ({ body }) => body as Pet,
    );
  }

  private listPage(query: object, options: RequestOptions | undefined): PagePromise<Pet> {
    return new PagePromise<Pet>(this.transport.send({ operation: 'listPets', method: 'GET', path: '/pets', query }, options), (next) =>
      this.listPage(next, options),
    );
  }
}

/** Returns 128 random bits as hexadecimal digits. `crypto.randomUUID` does not exist in browsers unless the page is served over HTTPS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
