import { NewPet } from '@animal-store/pets-domain';
import { describe, expect, it } from '@jest/globals';
import { demoPets, type DemoOptions, type DemoPet } from './demo-pets.js';

const defaults: DemoOptions = { seed: 1, pendingShare: 0.0001, soldShare: 0.2 };
const take = (count: number, options: Partial<DemoOptions> = {}) => {
  const pets = demoPets({ ...defaults, ...options });
  return Array.from({ length: count }, () => pets.next().value);
};

describe('demoPets', () => {
  it('are the same for the same seed in any number, and differ for another seed', () => {
    const pets = take(1000);
    expect(take(1000)).toEqual(pets);
    expect(take(10)).toEqual(pets.slice(0, 10));
    for (const seed of [0, 2, 2 ** 32 - 1]) expect(take(1000, { seed })).not.toEqual(pets);
  });

  it('are the same in each version', () => {
    const pets = take(10_000, { seed: 7, pendingShare: 0.3, soldShare: 0.3 });
    const texts = pets.map(({ name, categoryId, status }) => `${name}, ${categoryId}, ${status}`);
    expect(texts.slice(0, 6)).toEqual([
      'Sunny, 7, pending',
      'Milo, 1, pending',
      'Max the Spaniel, 1, sold',
      'Teddy the Betta, 5, pending',
      'Simba the Greyhound, 1, available',
      'Old Kiki, 3, pending',
    ]);
    const countBy = (key: (pet: DemoPet) => unknown) =>
      Object.values(Object.groupBy(pets, (pet) => String(key(pet)))).map((group) => group?.length);
    expect(countBy(({ categoryId }) => categoryId)).toEqual([3496, 1472, 1125, 966, 798, 826, 672, 645]);
    expect(countBy(({ name }) => (name.includes(' the ') ? 1 : name.includes(' ') ? 2 : 0))).toEqual([2955, 5573, 1472]);
  });

  it('follow the rules of the domain and need no escaping for COPY', () => {
    const pets = take(5_000);
    for (const { name, categoryId, status } of pets) NewPet.create({ name, categoryId: BigInt(categoryId), status });
    expect(pets.filter(({ name }) => !/^[A-Z][a-z]+(?: (?:the|[A-Z][a-z]+))*$/.test(name))).toEqual([]);
  });

  it.each([
    [1, 0],
    [0, 1],
    [0.1, 0.5],
  ])('are pending with a share of %d and sold with a share of %d', (pendingShare, soldShare) => {
    const count = 5_000;
    const pets = take(count, { pendingShare, soldShare });
    for (const [status, share] of [
      ['pending', pendingShare],
      ['sold', soldShare],
      ['available', 1 - pendingShare - soldShare],
    ] as const) {
      const found = pets.filter((pet) => pet.status === status).length;
      // Five and a half standard deviations. The seed is fixed, so the result is always the same.
      expect(Math.abs(found - count * share)).toBeLessThanOrEqual(5.5 * Math.sqrt(count * share * (1 - share)));
    }
  });
});
