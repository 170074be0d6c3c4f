import { DomainError, INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import { isPetName, NewPet, Pet, PetStatus } from './pet.js';

describe('isPetName', () => {
  it('accepts a visible text of at most 255 characters', () => {
    expect([' Rex ', '🐕'.repeat(255)].every(isPetName)).toBe(true);
    expect(['', ' ', '🐕'.repeat(256), 7, undefined].some(isPetName)).toBe(false);
  });
});

describe('NewPet.create', () => {
  it('keeps its input exactly', () => {
    expect(NewPet.create({ name: ' Réx ', categoryId: INT64_MIN, status: 'sold' })).toMatchObject({
      name: ' Réx ',
      categoryId: INT64_MIN,
      status: 'sold',
    });
  });

  it('is available by default', () => {
    expect(NewPet.create({ name: 'Rex', categoryId: INT64_MAX }).status).toBe('available');
    expect(NewPet.create({ name: 'Rex', categoryId: 1n, status: undefined }).status).toBe('available');
  });

  it.each([
    [{ name: '', categoryId: 1n }, /^name must [^;]+$/],
    [{ name: 'Rex', categoryId: INT64_MAX + 1n }, /^categoryId must [^;]+$/],
    [{ name: 'Rex', categoryId: INT64_MIN - 1n }, /^categoryId must [^;]+$/],
    [{ name: 'Rex', categoryId: 1n, status: 'lost' }, /^status must be one of available, pending, sold$/],
    [{ name: ' ', categoryId: 2n ** 64n, status: '' }, /^name must [^;]+; categoryId must [^;]+; status must [^;]+$/],
  ])('rejects %o, naming each field', (input, message) => {
    const create = () => NewPet.create(input);
    expect(create).toThrow(DomainError);
    expect(create).toThrow(message);
    expect(create).toThrow(expect.objectContaining({ code: 'invalid_request', kind: 'invalid' }));
  });
});

describe('Pet.rehydrate', () => {
  it('returns the row unchanged', () => {
    const row = { id: INT64_MAX, name: 'Rex', categoryId: -1n, status: PetStatus.Pending };
    expect(Pet.rehydrate(row)).toEqual(row);
  });
});

describe('NewPet.assertSameAs', () => {
  const pet = NewPet.create({ name: 'Rex', categoryId: 1n, status: 'sold' });

  it('accepts the same pet', () => {
    expect(() => pet.assertSameAs(Pet.rehydrate({ id: 7n, ...pet }))).not.toThrow();
  });

  it.each([{ name: 'rex' }, { categoryId: 2n }, { status: PetStatus.Pending }])('rejects a pet with %o', (other) => {
    const recorded = Pet.rehydrate({ id: 7n, ...pet, ...other });
    expect(() => pet.assertSameAs(recorded)).toThrow(expect.objectContaining({ code: 'idempotency_key_reused' }));
  });
});
