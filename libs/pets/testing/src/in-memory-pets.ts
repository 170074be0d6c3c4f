import { type IdempotencyKey, type Page, pageOf, type PageRequest } from '@animal-store/kernel';
import type { PetCatalogue } from '@animal-store/pets-contract';
import {
  type CreatedPet,
  type NewPet,
  Pet,
  type PetFilter,
  type PetReader,
  type PetRepository,
  type PetView,
} from '@animal-store/pets-domain';

/** An in-memory adapter of the ports, for specs of their callers, also in other contexts. */
export class InMemoryPets implements PetRepository, PetReader, PetCatalogue {
  private readonly pets: Pet[] = [];
  private readonly keys = new Map<string, Pet>();

  async add(pet: NewPet): Promise<Pet> {
    return this.insert(pet);
  }

  async addOnce(pet: NewPet, { clientId, key }: IdempotencyKey): Promise<CreatedPet> {
    const name = `${String(clientId)} ${key}`;
    const existing = this.keys.get(name);
    if (existing) {
      pet.assertSameAs(existing);
      return { pet: existing, replayed: true };
    }
    const added = this.insert(pet);
    this.keys.set(name, added);
    return { pet: added, replayed: false };
  }

  async find(id: bigint): Promise<PetView | undefined> {
    return this.pets.find((pet) => pet.id === id);
  }

  async exists(id: bigint): Promise<boolean> {
    return (await this.find(id)) !== undefined;
  }

  async list({ status, id }: PetFilter, page: PageRequest): Promise<Page<PetView>> {
    const matching = this.pets.filter((pet) => (status === undefined || pet.status === status) && (id === undefined || pet.id === id));
    return pageOf(matching, page);
  }

  private insert(pet: NewPet): Pet {
    const added = Pet.rehydrate({ id: BigInt(this.pets.length + 1), ...pet });
    this.pets.push(added);
    return added;
  }
}
