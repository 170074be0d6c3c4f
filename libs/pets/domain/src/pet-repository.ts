import type { IdempotencyKey } from '@animal-store/kernel';
import type { NewPet, Pet } from './pet.js';

export interface CreatedPet {
  readonly pet: Pet;
  /** The pet was created by an earlier request with the same key. */
  readonly replayed: boolean;
}

/** Keeps the pets of the catalogue. */
export abstract class PetRepository {
  /** Numbers the pet and keeps it; resolves when it is durable. */
  abstract add(pet: NewPet): Promise<Pet>;

  /**
   * Adds the pet and remembers the key, both or neither; when the key is known, answers the pet it stands for, also to
   * repetitions that arrive at once.
   * @throws DomainError IDEMPOTENCY_KEY_REUSED when the key stands for a different pet
   */
  abstract addOnce(pet: NewPet, key: IdempotencyKey): Promise<CreatedPet>;
}
