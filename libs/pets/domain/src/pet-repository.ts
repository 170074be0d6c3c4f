import type { IdempotencyKey } from '@animal-store/kernel';
import type { NewPet, Pet } from './pet.js';

export interface CreatedPet {
  readonly pet: Pet;
  /** Whether an earlier request with the same key created the pet. */
  readonly replayed: boolean;
}

/** Stores the pets of the catalogue. */
export abstract class PetRepository {
  /** Assigns an id and inserts the pet. Resolves after the commit. */
  abstract add(pet: NewPet): Promise<Pet>;

  /**
   * Inserts the pet and the key in one transaction. If the key exists, returns its pet. Concurrent calls with one key
   * all return the same pet.
   * @throws DomainError IDEMPOTENCY_KEY_REUSED if the key was used for a different pet
   */
  abstract addOnce(pet: NewPet, key: IdempotencyKey): Promise<CreatedPet>;
}
