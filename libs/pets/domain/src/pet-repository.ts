import type { NewPet, Pet } from './pet.js';

export abstract class PetRepository {
  /** Numbers the pet and keeps it; resolves when it is durable. */
  abstract add(pet: NewPet): Promise<Pet>;
}
