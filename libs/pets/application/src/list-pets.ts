import type { Page, PageRequest } from '@animal-store/kernel';
import type { PetFilter, PetReader, PetView } from '@animal-store/pets-domain';

export class ListPets {
  constructor(private readonly pets: PetReader) {}

  execute(filter: PetFilter, page: PageRequest): Promise<Page<PetView>> {
    return this.pets.list(filter, page);
  }
}
