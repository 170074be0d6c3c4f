import { DomainError, type IdempotencyKey, type Outcome, type Page, type PageRequest } from '@animal-store/kernel';
import { NewPet, type NewPetInput, type Pet, PET_NOT_FOUND, type PetFilter, type PetRepository } from '@animal-store/pets-domain';

export class CreatePet {
  constructor(private readonly pets: PetRepository) {}

  /**
   * Creates a pet. If the key was used before, returns the pet of the first request.
   * @throws DomainError INVALID_PET, IDEMPOTENCY_KEY_REUSED
   */
  async execute(input: NewPetInput, key?: IdempotencyKey): Promise<Outcome<Pet>> {
    return this.pets.add(NewPet.create(input), key);
  }
}

export class GetPet {
  constructor(private readonly pets: PetRepository) {}

  /** @throws DomainError PET_NOT_FOUND */
  async execute(id: bigint): Promise<Pet> {
    const pet = await this.pets.find(id);
    if (!pet) throw new DomainError(PET_NOT_FOUND);
    return pet;
  }
}

export class ListPets {
  constructor(private readonly pets: PetRepository) {}

  execute(filter: PetFilter, page: PageRequest): Promise<Page<Pet>> {
    return this.pets.list(filter, page);
  }
}
