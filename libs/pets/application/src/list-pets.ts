import type { PetCatalogue, PetListQuery, PetPage } from '@animal-store/pets-domain';

export class ListPets {
  constructor(private readonly catalogue: PetCatalogue) {}

  execute(query: PetListQuery): Promise<PetPage> {
    return this.catalogue.list(query);
  }
}
