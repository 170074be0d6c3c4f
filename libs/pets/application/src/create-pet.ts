import { NewPet, type NewPetInput, type Pet, type PetRepository } from '@animal-store/pets-domain';

export class CreatePet {
  constructor(private readonly pets: PetRepository) {}

  /** @throws DomainError INVALID_PET */
  async execute(input: NewPetInput): Promise<Pet> {
    return this.pets.add(NewPet.create(input));
  }
}
