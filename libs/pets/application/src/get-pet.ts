import { DomainError } from '@animal-store/kernel';
import { PET_NOT_FOUND, type PetCatalogue, type PetId, type PetView } from '@animal-store/pets-domain';

export class GetPet {
  constructor(private readonly catalogue: PetCatalogue) {}

  /** @throws DomainError PET_NOT_FOUND */
  async execute(id: PetId): Promise<PetView> {
    const pet = await this.catalogue.find(id);
    if (!pet) throw new DomainError(PET_NOT_FOUND);
    return pet;
  }
}
