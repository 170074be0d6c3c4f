import { DomainError } from '@animal-store/kernel';
import { IDEMPOTENCY_KEY_REUSED, type PetId, PET_NOT_FOUND } from '@animal-store/pets-domain';
import { aNewPet, InMemoryPets, petsOf } from '@animal-store/pets-testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { IDEMPOTENCY_KEY_LIFETIME_MS } from './forget-idempotency-keys.js';
import { CreatePet, ForgetIdempotencyKeys, GetPet, ListPets } from './index.js';

describe('CreatePet', () => {
  it('adds the pet and answers it with its identifier', async () => {
    const pets = new InMemoryPets();
    const { pet, replayed } = await new CreatePet(pets).execute({ name: 'Rex', categoryId: 7n });
    expect(pet).toMatchObject({ name: 'Rex', categoryId: 7n, status: 'available' });
    expect(replayed).toBe(false);
    expect(await pets.find(pet.id)).toEqual({ ...pet });
  });

  it('answers a repetition with the pet of the first request', async () => {
    const createPet = new CreatePet(new InMemoryPets());
    const key = { clientId: 1n, key: 'a' };
    const first = await createPet.execute({ name: 'Rex', categoryId: 7n }, key);
    expect(await createPet.execute({ name: 'Rex', categoryId: 7n, status: 'available' }, key)).toEqual({ pet: first.pet, replayed: true });
    await expect(createPet.execute({ name: 'Max', categoryId: 7n }, key)).rejects.toThrow(expect.objectContaining(IDEMPOTENCY_KEY_REUSED));
  });

  it('adds nothing that breaks an invariant', async () => {
    const pets = new InMemoryPets();
    await expect(new CreatePet(pets).execute({ name: '', categoryId: 7n })).rejects.toThrow(DomainError);
    expect(petsOf((await pets.list({ limit: 10 })).pets)).toEqual([]);
  });
});

describe('GetPet', () => {
  it('answers the pet', async () => {
    const pets = new InMemoryPets();
    const { id } = await pets.add(aNewPet({ name: 'Mimi' }));
    expect(await new GetPet(pets).execute(id)).toMatchObject({ id, name: 'Mimi' });
  });

  it('says when there is none', async () => {
    await expect(new GetPet(new InMemoryPets()).execute(1n as PetId)).rejects.toThrow(expect.objectContaining(PET_NOT_FOUND));
  });
});

describe('ListPets', () => {
  it('names the next page exactly when a further pet exists, and a walk visits each pet once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(30), fc.integer({ min: 1, max: 12 }), async (count, limit) => {
        const pets = new InMemoryPets();
        for (let i = 0; i < count; i++) await pets.add(aNewPet());
        const listPets = new ListPets(pets);
        const visited: bigint[] = [];
        let after: PetId | undefined;
        do {
          const { pets: page, next } = await listPets.execute({ limit, after });
          const ids = petsOf(page).map(({ id }) => id);
          expect(ids.length).toBeLessThanOrEqual(limit);
          visited.push(...ids);
          expect(next).toBe(visited.length < count ? ids.at(-1) : undefined);
          after = next;
        } while (after !== undefined);
        expect(visited).toEqual(petsOf((await pets.list({ limit: 100 })).pets).map(({ id }) => id));
      }),
    );
  });

  it('keeps to the status', async () => {
    const pets = new InMemoryPets();
    for (const status of ['sold', 'available', 'sold', 'sold'] as const) await pets.add(aNewPet({ status }));
    const { pets: page, next } = await new ListPets(pets).execute({ limit: 2, status: 'sold' });
    const sold = petsOf(page);
    expect(sold.map(({ status }) => status)).toEqual(['sold', 'sold']);
    expect(next).toBe(sold[1]?.id);
  });
});

describe('ForgetIdempotencyKeys', () => {
  it('keeps them for a day', () => {
    expect(IDEMPOTENCY_KEY_LIFETIME_MS).toBe(86_400_000);
  });

  it('forgets what is older, in as many batches as it takes', async () => {
    const pets = new InMemoryPets();
    for (let i = 0; i < 1001; i++) await pets.addOnce(aNewPet(), { clientId: 1n, key: String(i) });
    const after = (ms: number) => ({ now: () => new Date(Date.now() + ms) });
    expect(await new ForgetIdempotencyKeys(pets, after(IDEMPOTENCY_KEY_LIFETIME_MS - 60_000)).execute()).toBe(0);
    expect(await new ForgetIdempotencyKeys(pets, after(IDEMPOTENCY_KEY_LIFETIME_MS + 60_000)).execute()).toBe(1001);
  });
});
