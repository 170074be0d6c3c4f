import { Random } from '@animal-store/chaos/random';
import { expect, it } from 'vitest';
import { Zipf } from './zipf.js';

it('draws rank r as 1 / (r + 1) of rank 0', () => {
  const zipf = new Zipf(4);
  const random = new Random(1);
  const drawn = [0, 0, 0, 0];
  for (let i = 0; i < 100_000; i++) drawn[zipf.rank(random.next())]! += 1;
  const [first = 0, ...others] = drawn;
  for (const [index, count] of others.entries()) expect(count / first).toBeCloseTo(1 / (index + 2), 1);
});

it('reaches the first and the last rank, and no other', () => {
  const zipf = new Zipf(200);
  expect(zipf.rank(0)).toBe(0);
  expect(zipf.rank(1 - Number.EPSILON)).toBe(199);
  expect(new Zipf(1).rank(0.99)).toBe(0);
});
