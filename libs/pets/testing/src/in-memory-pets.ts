import { type NewPet, Pet, type PetCatalogue, type PetId, type PetListQuery, type PetRepository, type PetView } from '@animal-store/pets-domain';

/** Both ports over one array, for specs of what stands above them. */
export class InMemoryPets implements PetRepository, PetCatalogue {
  private readonly pets: PetView[] = [];

  add({ name, categoryId, status }: NewPet): Promise<Pet> {
    const row = { id: BigInt(this.pets.length + 1), name, categoryId, status };
    this.pets.push(row);
    return Promise.resolve(Pet.rehydrate(row));
  }

  find(id: PetId): Promise<PetView | undefined> {
    return Promise.resolve(this.pets.find((pet) => pet.id === id));
  }

  list({ limit, status, after }: PetListQuery): Promise<readonly PetView[]> {
    const wanted = this.pets.filter((pet) => (status === undefined || pet.status === status) && (after === undefined || pet.id > after));
    return Promise.resolve(wanted.slice(0, limit));
  }
}
