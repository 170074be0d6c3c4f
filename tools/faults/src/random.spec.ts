import { expect, it } from '@jest/globals';
import { Random } from './random.js';

const numbers = (seed: number) => {
  const random = new Random(seed);
  return Array.from({ length: 5 }, () => random.below(1_000_000));
};

it('returns the same schedule for the same seed, and another one for another seed', () => {
  expect(numbers(1)).toEqual(numbers(1));
  expect(numbers(1)).not.toEqual(numbers(2));
  expect(new Random(7).shuffle([1, 2, 3, 4, 5, 6])).toEqual(new Random(7).shuffle([1, 2, 3, 4, 5, 6]));
  expect(new Random(7).shuffle([1, 2, 3]).toSorted()).toEqual([1, 2, 3]);
});
