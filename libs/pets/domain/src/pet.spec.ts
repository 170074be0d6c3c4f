import { DomainError, INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isPetName, NewPet, Pet, PET_NAME_MAX_LENGTH, PET_NAME_PATTERN } from './pet.js';
import { PetStatus } from './pet-status.js';

const nameOf = (text: unknown) => isPetName(text);

describe('isPetName', () => {
  it('accepts any well-formed text of 1 to 255 code points with a visible one', () => {
    const visible = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 255 })
      .filter((text) => !text.includes('\0') && text.trim() !== '' && /\P{White_Space}/u.test(text));
    fc.assert(fc.property(visible, nameOf));
  });

  it('counts code points, not UTF-16 units', () => {
    expect(nameOf('🐕'.repeat(255))).toBe(true);
    expect(nameOf('🐕'.repeat(256))).toBe(false);
    expect(nameOf('x'.repeat(255))).toBe(true);
    expect(nameOf('x'.repeat(256))).toBe(false);
    expect(nameOf(`${'🐕'.repeat(254)}xx`)).toBe(false);
  });

  it.each(['', 'u'])('accepts the characters that the pattern in the OpenAPI document allows with the flags "%s"', (flags) => {
    const pattern = new RegExp(PET_NAME_PATTERN, flags);
    const character = fc.oneof(
      fc.constantFrom('\t', ' ', '\u0085', '\u00a0', '\u1680', '\u2003', '\u2028', '\u3000', '\u180e', '\u200b', '\ufeff'),
      fc.constantFrom('\0', '\u0001', 'x', 'é', '🐕', '\ud83d', '\udc15'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    );
    const text = fc.array(character, { maxLength: 4 }).map((characters) => characters.join(''));
    const around = fc.integer({ min: 253, max: 256 }).chain((length) => text.map((end) => '🐕'.repeat(length) + end));
    fc.assert(
      fc.property(fc.oneof(text, around), (name) => {
        const codePoints = Array.from(name).length;
        const isAllowed = pattern.test(name) && codePoints <= PET_NAME_MAX_LENGTH;
        expect(isPetName(name)).toBe(isAllowed);
        // The documented rule.
        expect(isAllowed).toBe(
          codePoints <= PET_NAME_MAX_LENGTH && /\P{White_Space}/u.test(name) && !name.includes('\0') && name.isWellFormed(),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['', ' ', '\t\n\r', '\u0085\u00a0\u1680\u2003\u2028\u202f\u205f\u3000', 'a\0b', '\ud800', 'Rex\udc00', 7, null, undefined, {}])(
    'rejects %j',
    (value) => expect(nameOf(value)).toBe(false),
  );

  it('accepts surrounding white space, and U+FEFF, which is not white space', () => {
    expect(nameOf('  Rex ')).toBe(true);
    expect(nameOf('\ufeff')).toBe(true);
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
