import { DomainError, INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import { isPetName, NewPet } from './pet.js';

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
