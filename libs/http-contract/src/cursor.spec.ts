import { INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { PET_STATUSES, type PetId } from '@animal-store/pets-domain';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodePetCursor, encodePetCursor } from './pet-cursor.js';

const id = fc.bigInt({ min: INT64_MIN, max: INT64_MAX }).map((value) => value as PetId);
const status = fc.constantFrom(undefined, ...PET_STATUSES);

describe('the cursor', () => {
  it('brings back the identifier for its status', () => {
    fc.assert(fc.property(id, status, (after, of) => decodePetCursor(encodePetCursor(after, of), of) === after));
  });

  it('is refused for another status', () => {
    fc.assert(
      fc.property(
        id,
        status,
        status,
        (after, of, other) => of === other || decodePetCursor(encodePetCursor(after, of), other) === undefined,
      ),
    );
  });

  it('has one spelling only: no other character will do anywhere', () => {
    fc.assert(
      fc.property(id, status, fc.nat(18), fc.constantFrom(...'AZaz09-_'), (after, of, index, character) => {
        const cursor = encodePetCursor(after, of);
        fc.pre(cursor[index] !== character);
        expect(decodePetCursor(cursor.slice(0, index) + character + cursor.slice(index + 1), of)).toBeUndefined();
      }),
    );
  });

  it.each([
    '',
    'x',
    'AQAAAAAAAAAAA',
    'AQAAAAAAAAAAAAA',
    'AQAAAAAAAAAAA=',
    'AgAAAAAAAAAAAQ',
    'AQAAAAAAAAAAAR',
    7,
    null,
    undefined,
    ['AQAAAAAAAAAAAQ'],
  ])('refuses %j', (text) => {
    expect(decodePetCursor(text, undefined)).toBeUndefined();
  });
});
