import type { IdempotencyKey, Outcome, Page, PageRequest } from '@animal-store/kernel';
import type { NewPet, Pet, PetStatus } from './pet.js';

/** Selects pets that match all members. Undefined members are ignored. */
export interface PetFilter {
  readonly status?: PetStatus | undefined;
  readonly id?: bigint | undefined;
}

/** The pets of the catalogue. What `find` and `list` return may be shared between callers. */
export abstract class PetRepository {
  /** Assigns an id and inserts the pet. Resolves after the commit. */
  abstract add(pet: NewPet): Promise<Pet>;

  /**
   * Inserts the pet and the key in one transaction. If the key exists, returns its pet. Concurrent calls with one key
   * all return the same pet.
   * @throws DomainError IDEMPOTENCY_KEY_REUSED if the key was used for a different pet
   */
  abstract addOnce(pet: NewPet, key: IdempotencyKey): Promise<Outcome<Pet>>;

  abstract find(id: bigint): Promise<Pet | undefined>;

  abstract list(filter: PetFilter, page: PageRequest): Promise<Page<Pet>>;
}
