import type { IdempotencyKey } from '@animal-store/kernel';
import { type CreatedPet, NewPet, type NewPetInput, type PetRepository } from '@animal-store/pets-domain';

export class CreatePet {
  constructor(private readonly pets: PetRepository) {}

  /**
   * Creates a pet. If the key was used before, returns the pet of the first request.
   * @throws DomainError INVALID_PET, IDEMPOTENCY_KEY_REUSED
   */
  async execute(input: NewPetInput, key?: IdempotencyKey): Promise<CreatedPet> {
    const pet = NewPet.create(input);
    return key ? this.pets.addOnce(pet, key) : { pet: await this.pets.add(pet), replayed: false };
  }
}
