import { DomainError, JsonText } from '@animal-store/kernel';
import {
  type CreatedPet,
  IDEMPOTENCY_KEY_REUSED,
  type IdempotencyKey,
  type NewPet,
  Pet,
  type PetCatalogue,
  type PetId,
  type PetListQuery,
  type PetPage,
  type PetRepository,
  type PetView,
} from '@animal-store/pets-domain';
import { jsonOfPets } from './json-of-pets.js';

/** Both ports over one array, for specs of what stands above them. */
export class InMemoryPets implements PetRepository, PetCatalogue {
  private readonly pets: PetView[] = [];
  private readonly keys = new Map<string, { pet: Pet; at: Date }>();

  add(pet: NewPet): Promise<Pet> {
    return Promise.resolve(this.insert(pet));
  }

  addOnce(pet: NewPet, { clientId, key }: IdempotencyKey): Promise<CreatedPet> {
    const name = `${String(clientId)} ${key}`;
    const known = this.keys.get(name);
    if (known) {
      return pet.equals(known.pet)
        ? Promise.resolve({ pet: known.pet, replayed: true })
        : Promise.reject(new DomainError(IDEMPOTENCY_KEY_REUSED));
    }
    const added = this.insert(pet);
    this.keys.set(name, { pet: added, at: new Date() });
    return Promise.resolve({ pet: added, replayed: false });
  }

  forgetKeys(before: Date, limit: number): Promise<number> {
    const old = [...this.keys].filter(([, { at }]) => at < before).slice(0, limit);
    for (const [name] of old) this.keys.delete(name);
    return Promise.resolve(old.length);
  }

  find(id: PetId): Promise<PetView | undefined> {
    return Promise.resolve(this.pets.find((pet) => pet.id === id));
  }

  list({ limit, status, after }: PetListQuery): Promise<PetPage> {
    const wanted = this.pets.filter((pet) => (status === undefined || pet.status === status) && (after === undefined || pet.id > after));
    const pets = wanted.slice(0, limit);
    const last = pets.at(-1);
    return Promise.resolve({
      pets: new JsonText(jsonOfPets(pets)),
      ...(last && wanted.length > limit && { next: last.id as PetId }),
    });
  }

  private insert({ name, categoryId, status }: NewPet): Pet {
    const row = { id: BigInt(this.pets.length + 1), name, categoryId, status };
    this.pets.push(row);
    return Pet.rehydrate(row);
  }
}
