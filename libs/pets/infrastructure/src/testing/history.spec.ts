import { describe, expect, it } from '@jest/globals';
import { findOutdatedRead, findViolation } from './history.js';

const creation = (created: bigint, calledAt: number, returnedAt: number) => ({ created, calledAt, returnedAt });
const list = (pets: bigint[], calledAt: number, returnedAt: number) => ({ seen: new Set(pets), calledAt, returnedAt });
const find = (requested: bigint, isFound: boolean, calledAt: number, returnedAt: number) => ({
  requested,
  seen: new Set(isFound ? [requested] : []),
  calledAt,
  returnedAt,
});

const lostPet = [creation(1n, 1, 10), find(1n, true, 2, 3), list([], 4, 5)];
const longFork = [creation(1n, 1, 9), creation(2n, 2, 9), list([1n], 3, 8), list([2n], 4, 8)];

describe('the check of histories', () => {
  it.each([
    ['a creation that a list forgets', [creation(1n, 1, 2), list([], 3, 4)], /created, and not seen/],
    ['a creation that is not found', [creation(1n, 1, 2), find(1n, false, 3, 4)], /created, and not seen/],
    ['a pet that comes and goes', lostPet, /seen, and not seen/],
    ['a pet from the future', [list([1n], 1, 2), creation(1n, 3, 4)], /before it was created/],
    ['two orders of two creations', longFork, /different creations first/],
  ])('rejects %s', (_, operations, reason) => expect(findViolation(operations)).toMatch(reason));

  it.each([
    ['reads while a creation is under way', [creation(1n, 1, 9), list([], 2, 3), find(1n, true, 4, 5), list([1n], 6, 7)]],
    ['reads of something else', [creation(1n, 1, 2), find(2n, false, 3, 4)]],
  ])('accepts %s', (_, operations) => {
    expect(findViolation(operations)).toBeUndefined();
  });

  it.each([
    ['two orders of two creations', longFork],
    ['a pet that comes and goes', lostPet],
  ])('finds no outdated read in %s', (_, operations) => {
    expect(findOutdatedRead(operations)).toBeUndefined();
  });
});
