import { DomainError, IDEMPOTENCY_KEY_REUSED } from '@animal-store/kernel';
import { PET_NOT_FOUND, PetStatus } from '@animal-store/pets-domain';
import { aNewPet, InMemoryPets, OTHER_PET_VALUES } from '@animal-store/pets-testing';
import { describe, expect, it } from '@jest/globals';
import { CreatePet, GetPet, ListPets } from './index.js';

describe('CreatePet', () => {
  it('adds the pet and returns it with its identifier', async () => {
    const pets = new InMemoryPets();
    const { pet, replayed } = await new CreatePet(pets).execute({ name: 'Rex', categoryId: 7n });
    expect(pet).toMatchObject({ name: 'Rex', categoryId: 7n, status: 'available' });
    expect(replayed).toBe(false);
    expect(await pets.find(pet.id)).toEqual({ ...pet });
  });

  it('returns the pet of the first request for a repetition', async () => {
    const createPet = new CreatePet(new InMemoryPets());
    const key = { clientId: 1n, key: 'a' };
    const first = await createPet.execute({ name: 'Rex', categoryId: 1n }, key);
    expect(await createPet.execute(aNewPet(), key)).toEqual({ pet: first.pet, replayed: true });
    for (const other of OTHER_PET_VALUES)
      await expect(createPet.execute(aNewPet(other), key)).rejects.toThrow(expect.objectContaining(IDEMPOTENCY_KEY_REUSED));
  });

  it('does not add a pet that violates an invariant', async () => {
    const pets = new InMemoryPets();
    await expect(new CreatePet(pets).execute({ name: '', categoryId: 7n })).rejects.toThrow(DomainError);
    expect((await pets.list({}, { limit: 10 })).items).toEqual([]);
  });
});

describe('GetPet', () => {
  it('returns the pet', async () => {
    const pets = new InMemoryPets();
    const { id } = await pets.add(aNewPet({ name: 'Mimi' }));
    expect(await new GetPet(pets).execute(id)).toMatchObject({ id, name: 'Mimi' });
  });

  it('throws if the pet does not exist', async () => {
    await expect(new GetPet(new InMemoryPets()).execute(1n)).rejects.toThrow(expect.objectContaining(PET_NOT_FOUND));
  });
});

describe('ListPets', () => {
  it('returns a page of the pets that match the filter', async () => {
    const pets = new InMemoryPets();
    for (const status of ['sold', 'available', 'sold', 'sold'] as const) await pets.add(aNewPet({ status }));
    const { items: sold, next } = await new ListPets(pets).execute({ status: PetStatus.Sold }, { limit: 2 });
    expect(sold.map(({ status }) => status)).toEqual(['sold', 'sold']);
    expect(next).toBe(sold[1]?.id);
  });
});
