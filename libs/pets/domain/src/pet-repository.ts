import type { IdempotencyKey, Outcome, Page, PageRequest } from '@animal-store/kernel';
import type { NewPet, Pet, PetStatus } from './pet.js';

/** Selects pets that match all members. Undefined members are ignored. */
export interface PetFilter {
  readonly status?: PetStatus | undefined;
  readonly id?: bigint | undefined;
}

/** The pets of the catalogue. What `find` and `list` return may be shared between callers. */
export abstract class PetRepository {
  /**
   * Inserts the pet, and resolves after the commit. With a key, inserts it once: if the key exists, returns the pet of the first call, also to
   * concurrent calls.
   * @throws DomainError IDEMPOTENCY_KEY_REUSED if the key was used for a different pet
   */
  abstract add(pet: NewPet, key?: IdempotencyKey): Promise<Outcome<Pet>>;

  abstract find(id: bigint): Promise<Pet | undefined>;

  abstract list(filter: PetFilter, page: PageRequest): Promise<Page<Pet>>;
}
