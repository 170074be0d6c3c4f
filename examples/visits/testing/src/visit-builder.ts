import { NewVisit, type NewVisitInput } from '@animal-store/visits-domain';
import fc from 'fast-check';

export function aNewVisit(overrides: Partial<NewVisitInput> = {}): NewVisit {
  return NewVisit.create({ name: 'first', ...overrides });
}

/** For each field, a value that `aNewVisit()` does not have. */
export const OTHER_VISIT_VALUES: readonly Partial<NewVisitInput>[] = [{ name: 'other' }];

// fast-check's unit `binary` takes more than a second to build.
const unit = fc.integer({ min: 1, max: 0x10_ffff }).map((code) => String.fromCodePoint(code).toWellFormed());
/** Any visible text, often one that is escaped in JSON or looks like JSON. */
const visibleTexts = fc.oneof(
  fc.string({ unit, minLength: 1, maxLength: 60 }).filter((text) => /\P{White_Space}/u.test(text)),
  fc.constantFrom('Réx', '🐕', ' x ', '"\\/\b\f\n\r\t\u0001\u001f\u007f\u2028', ',{"id":', '},{"id":1}', '\\",{\\"id\\":', '","x":"'),
);

/** Any valid values. */
export const anyNewVisit = fc.record({ name: visibleTexts }).map((input) => NewVisit.create(input));
