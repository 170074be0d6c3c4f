import type { APIPromise } from './api-promise.cjs';
import type { components, operations } from './openapi.generated.cjs';
import type { CreateOptions, RequestOptions } from './options.cjs';
import type { PagePromise } from './page.cjs';
import type { Transport } from './transport.cjs';
export type Pet = components['schemas']['Pet'];
export type NewPet = components['schemas']['NewPet'];
export type PetStatus = components['schemas']['PetStatus'];
export type PetListParams = NonNullable<operations['listPets']['parameters']['query']>;
export declare class Pets {
    private readonly transport;
    constructor(transport: Transport);
    /** Lists pets in ascending order of their ids. Await it for the first page, or iterate over all pages. */
    list(params?: PetListParams, options?: RequestOptions): PagePromise<Pet>;
    /** Adds a pet. All attempts have the same idempotency key, so retries never add a second pet. */
    create(pet: NewPet, options?: CreateOptions): APIPromise<Pet>;
    /**
     * Returns the pet with this id.
     * @deprecated The service removes this operation on 5 December 2030. Use `list({ id })`.
     */
    retrieve(id: bigint, options?: RequestOptions): APIPromise<Pet>;
}
