import { Random } from '@animal-store/faults/random';
import { expect, it } from '@jest/globals';
import { Zipf } from './workloads.js';

it('returns rank r 1 / (r + 1) times as often as rank 0', () => {
  const zipf = new Zipf(4);
  const random = new Random(1);
  const ranks = Array.from({ length: 100_000 }, () => zipf.rank(random.next()));
  const drawn = (wanted: number) => ranks.filter((rank) => rank === wanted).length;
  for (const rank of [1, 2, 3]) expect(drawn(rank) / drawn(0)).toBeCloseTo(1 / (rank + 1), 1);
});

it('returns the first rank for 0 and the last one for almost 1', () => {
  const zipf = new Zipf(200);
  expect(zipf.rank(0)).toBe(0);
  expect(zipf.rank(1 - Number.EPSILON)).toBe(199);
  expect(new Zipf(1).rank(0.99)).toBe(0);
});
