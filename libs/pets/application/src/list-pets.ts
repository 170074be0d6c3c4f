import type { PetCatalogue, PetId, PetListQuery, PetView } from '@animal-store/pets-domain';

export interface PetPage {
  readonly pets: readonly PetView[];
  /** The last pet of this page, exactly when a further one exists. */
  readonly next?: PetId;
}

export class ListPets {
  constructor(private readonly catalogue: PetCatalogue) {}

  async execute(query: PetListQuery): Promise<PetPage> {
    const { limit } = query;
    // One more than asked for tells whether a further pet exists.
    const found = await this.catalogue.list({ ...query, limit: limit + 1 });
    if (found.length <= limit) return { pets: found };
    const pets = found.slice(0, limit);
    return { pets, next: pets.at(-1)?.id as PetId };
  }
}
