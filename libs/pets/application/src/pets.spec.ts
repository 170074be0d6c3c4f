import { DomainError, type IdempotencyKey } from '@animal-store/kernel';
import { type NewPet, PET_NOT_FOUND, PetRepository } from '@animal-store/pets-domain';
import { expect, it } from '@jest/globals';
import { CreatePet, GetPet } from './index.js';

const KEY = { clientId: 1n, key: 'a' };

class FakePets extends PetRepository {
  add = (pet: NewPet, key?: IdempotencyKey) => Promise.resolve({ result: { id: 7n, ...pet }, replayed: key !== undefined });
  find = () => Promise.resolve(undefined);
  list = () => Promise.resolve({ items: [] });
}

it('CreatePet adds a pet, with a key once, and none that violates an invariant', async () => {
  const createPet = new CreatePet(new FakePets());
  const pet = { id: 7n, name: 'Rex', categoryId: 7n, status: 'available' };
  expect(await createPet.execute({ name: 'Rex', categoryId: 7n })).toEqual({ result: pet, replayed: false });
  expect(await createPet.execute({ name: 'Rex', categoryId: 7n }, KEY)).toEqual({ result: pet, replayed: true });
  await expect(createPet.execute({ name: '', categoryId: 7n })).rejects.toThrow(DomainError);
});

it('GetPet throws if the pet does not exist', async () => {
  await expect(new GetPet(new FakePets()).execute(1n)).rejects.toThrow(expect.objectContaining(PET_NOT_FOUND));
});
