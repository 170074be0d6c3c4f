import { INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { NewVisit, type NewVisitInput, VISIT_MINUTES } from '@animal-store/visits-domain';
import fc from 'fast-check';

const VALUES: NewVisitInput = { petId: 1n, startsAt: new Date('2030-01-07T09:00:00.000Z'), durationMinutes: 30, reason: 'Vaccination' };

export function aNewVisit(overrides: Partial<NewVisitInput> = {}): NewVisit {
  return NewVisit.create({ ...VALUES, ...overrides });
}

/** Returns a visit of `aNewVisit()` that starts this many half hours later, so that it does not overlap those of other slots. */
export function aVisitInSlot(slot: number, overrides: Partial<NewVisitInput> = {}): NewVisit {
  return aNewVisit({ startsAt: new Date(VALUES.startsAt.getTime() + slot * 30 * 60_000), ...overrides });
}

// fast-check's unit `binary` takes more than a second to build.
const unit = fc.integer({ min: 1, max: 0x10_ffff }).map((code) => String.fromCodePoint(code).toWellFormed());
/** Any visible text, often one that is escaped in JSON or looks like JSON. */
const visibleTexts = fc.oneof(
  fc.string({ unit, minLength: 1, maxLength: 60 }).filter((text) => /\P{White_Space}/u.test(text)),
  fc.constantFrom('Réx', '🐕', ' x ', '"\\/\b\f\n\r\t\u0001\u001f\u007f\u2028', ',{"id":', '},{"id":1}', '\\",{\\"id\\":', '","x":"'),
);

/** Any valid values. */
export const anyNewVisit = fc
  .record({
    petId: fc.oneof(fc.bigInt({ min: INT64_MIN, max: INT64_MAX }), fc.constantFrom(INT64_MIN, INT64_MAX, 2n ** 53n + 1n)),
    startsAt: fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true }),
    durationMinutes: fc.integer({ min: VISIT_MINUTES.minimum, max: VISIT_MINUTES.maximum }),
    reason: visibleTexts,
    notes: fc.option(visibleTexts),
  })
  .map((input) => NewVisit.create(input));
