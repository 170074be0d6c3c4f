import { DomainError, INT64_MAX } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import { isVisitMinutes, moveVisit, NewVisit, VisitStatus } from './visit.js';

const INPUT = { petId: 1n, startsAt: new Date('2030-01-07T09:00:00.000Z'), durationMinutes: 30, reason: ' Réx limps ' };
const aVisit = (status = VisitStatus.Booked) => ({ id: 7n, ...NewVisit.create(INPUT), status });

it('isVisitMinutes accepts 5 to 480', () => {
  expect([5, 480].every(isVisitMinutes)).toBe(true);
  expect([4, 481, 5.5, '5', undefined].some(isVisitMinutes)).toBe(false);
});

describe('NewVisit.create', () => {
  it('keeps the values exactly, and is booked, without notes by default', () => {
    expect(NewVisit.create(INPUT)).toEqual({ ...INPUT, status: 'booked', notes: null });
    expect(NewVisit.create({ ...INPUT, notes: 'Bites' }).notes).toBe('Bites');
  });

  it.each([
    [{ petId: INT64_MAX + 1n }, /^petId must [^;]+$/],
    [{ startsAt: new Date('never') }, /^startsAt must be [^;]+$/],
    [{ durationMinutes: 4 }, /^durationMinutes must be an integer from 5 to 480$/],
    [{ reason: '' }, /^reason must be a string of 1 to 200 characters[^;]+$/],
    [{ reason: 'x'.repeat(201) }, /^reason must [^;]+$/],
    [{ notes: '' }, /^notes must be a string of 1 to 2000 characters[^;]+$/],
    [{ notes: 'x'.repeat(2001), durationMinutes: 481 }, /^durationMinutes must [^;]+; notes must [^;]+$/],
  ])('rejects %o and names each field', (input, message) => {
    const create = () => NewVisit.create({ ...INPUT, ...input });
    expect(create).toThrow(DomainError);
    expect(create).toThrow(message);
    expect(create).toThrow(expect.objectContaining({ code: 'invalid_request', kind: 'invalid' }));
  });
});

describe('moveVisit', () => {
  it.each([VisitStatus.CheckedIn, VisitStatus.Cancelled])('changes a booked visit to %s, and no other one', (status) => {
    const moved = moveVisit(aVisit(), status);
    expect(moved).toEqual({ ...aVisit(), status });
    for (const other of [VisitStatus.CheckedIn, VisitStatus.Cancelled])
      expect(() => moveVisit(moved, other)).toThrow(expect.objectContaining({ code: 'visit_not_booked', kind: 'conflict' }));
  });
});
