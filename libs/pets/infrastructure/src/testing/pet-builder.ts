import { INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { NewPet, type NewPetInput, PET_STATUSES } from '@animal-store/pets-domain';
import fc from 'fast-check';

export function aNewPet(overrides: Partial<NewPetInput> = {}): NewPet {
  return NewPet.create({ name: 'Rex', categoryId: 1n, ...overrides });
}

/** For each field, a value that `aNewPet()` does not have. */
export const OTHER_PET_VALUES: readonly Partial<NewPetInput>[] = [{ name: 'rex' }, { categoryId: 2n }, { status: 'pending' }];

// fast-check's unit `binary` takes more than a second to build.
const unit = fc.integer({ min: 1, max: 0x10_ffff }).map((code) => String.fromCodePoint(code).toWellFormed());
/** Any visible text, often one that is escaped in JSON or looks like JSON. */
const visibleTexts = fc.oneof(
  fc.string({ unit, minLength: 1, maxLength: 60 }).filter((text) => /\P{White_Space}/u.test(text)),
  fc.constantFrom('Réx', '🐕', ' x ', '"\\/\b\f\n\r\t\u0001\u001f\u007f\u2028', ',{"id":', '},{"id":1}', '\\",{\\"id\\":', '","x":"'),
);
const int64 = fc.oneof(fc.bigInt({ min: INT64_MIN, max: INT64_MAX }), fc.constantFrom(INT64_MIN, INT64_MAX, 2n ** 53n + 1n));

/** Any valid values. */
export const anyNewPet = fc
  .record({ name: visibleTexts, categoryId: int64, status: fc.constantFrom(...PET_STATUSES) })
  .map((input) => NewPet.create(input));
