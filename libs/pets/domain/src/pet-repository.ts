import type { CreatedPet, IdempotencyKey } from './idempotency.js';
import type { NewPet, Pet } from './pet.js';

export abstract class PetRepository {
  /** Numbers the pet and keeps it; resolves when it is durable. */
  abstract add(pet: NewPet): Promise<Pet>;

  /**
   * Adds the pet and remembers the key, both or neither; when the key is known, answers the pet it stands for, also to
   * repetitions that arrive at once.
   * @throws DomainError IDEMPOTENCY_KEY_REUSED when the key stands for a different pet
   */
  abstract addOnce(pet: NewPet, key: IdempotencyKey): Promise<CreatedPet>;

  /** Forgets at most `limit` keys that were remembered before `time`, and says how many. */
  abstract forgetKeys(before: Date, limit: number): Promise<number>;
}
