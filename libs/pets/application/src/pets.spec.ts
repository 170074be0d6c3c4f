import { DomainError } from '@animal-store/kernel';
import { type NewPet, type Pet, PET_NOT_FOUND, PetRepository } from '@animal-store/pets-domain';
import { expect, it } from '@jest/globals';
import { CreatePet, GetPet } from './index.js';

const KEY = { clientId: 1n, key: 'a' };

class FakePets extends PetRepository {
  readonly added: NewPet[] = [];

  add(pet: NewPet): Promise<Pet> {
    this.added.push(pet);
    return Promise.resolve({ id: 7n, ...pet });
  }

  async addOnce(pet: NewPet) {
    return { result: await this.add(pet), replayed: true };
  }

  find = () => Promise.resolve(undefined);
  list = () => Promise.resolve({ items: [] });
}

it('CreatePet adds a pet, with a key once, and none that violates an invariant', async () => {
  const pets = new FakePets();
  const createPet = new CreatePet(pets);
  const pet = { id: 7n, name: 'Rex', categoryId: 7n, status: 'available' };
  expect(await createPet.execute({ name: 'Rex', categoryId: 7n })).toEqual({ result: pet, replayed: false });
  expect(await createPet.execute({ name: 'Rex', categoryId: 7n }, KEY)).toEqual({ result: pet, replayed: true });
  await expect(createPet.execute({ name: '', categoryId: 7n })).rejects.toThrow(DomainError);
  expect(pets.added).toHaveLength(2);
});

it('GetPet throws if the pet does not exist', async () => {
  await expect(new GetPet(new FakePets()).execute(1n)).rejects.toThrow(expect.objectContaining(PET_NOT_FOUND));
});
