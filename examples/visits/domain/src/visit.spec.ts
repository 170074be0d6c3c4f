import { DomainError, INT64_MAX } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import { isVisitName, NewVisit, Visit } from './visit.js';

describe('isVisitName', () => {
  it('accepts a visible text of at most 255 characters', () => {
    expect([' Réx ', '🐕'.repeat(255)].every(isVisitName)).toBe(true);
    expect(['', ' ', '🐕'.repeat(256), 7, undefined].some(isVisitName)).toBe(false);
  });
});

describe('NewVisit.create', () => {
  it('keeps the values exactly', () => {
    expect(NewVisit.create({ name: ' Réx ' })).toMatchObject({ name: ' Réx ' });
  });

  it.each([[{ name: '' }, /^name must be a string of 1 to 255 characters[^;]*$/]])('rejects %o and names each field', (input, message) => {
    const create = () => NewVisit.create(input);
    expect(create).toThrow(DomainError);
    expect(create).toThrow(message);
    expect(create).toThrow(expect.objectContaining({ code: 'invalid_request', kind: 'invalid' }));
  });
});

describe('Visit.rehydrate', () => {
  it('returns the values of the row', () => {
    const row = { id: INT64_MAX, ...NewVisit.create({ name: 'first' }) };
    expect(Visit.rehydrate(row)).toEqual(row);
  });
});

describe('NewVisit.assertSameAs', () => {
  const visit = NewVisit.create({ name: 'first' });

  it('accepts equal values', () => {
    expect(() => visit.assertSameAs(Visit.rehydrate({ id: 7n, ...visit }))).not.toThrow();
  });

  it.each([{ name: 'First' }])('rejects %o', (other) => {
    const recorded = Visit.rehydrate({ id: 7n, ...visit, ...other });
    expect(() => visit.assertSameAs(recorded)).toThrow(expect.objectContaining({ code: 'idempotency_key_reused' }));
  });
});
