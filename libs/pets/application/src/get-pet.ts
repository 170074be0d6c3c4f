import { DomainError } from '@animal-store/kernel';
import { PET_NOT_FOUND, type PetReader, type PetView } from '@animal-store/pets-domain';

export class GetPet {
  constructor(private readonly pets: PetReader) {}

  /** @throws DomainError PET_NOT_FOUND */
  async execute(id: bigint): Promise<PetView> {
    const pet = await this.pets.find(id);
    if (!pet) throw new DomainError(PET_NOT_FOUND);
    return pet;
  }
}
