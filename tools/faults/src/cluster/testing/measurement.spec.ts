import { expect, it } from '@jest/globals';
import { figuresOf, longestGap, recoveryAfterFailover, sumOf } from './measurement.js';

it('finds the longest time without a success, including the begin and the end', () => {
  expect(longestGap([1_100, 1_900, 1_500, 500, 2_500], 1_000, 2_000)).toEqual({ begin: 1_100, end: 1_500 });
  expect(longestGap([], 1_000, 2_000)).toEqual({ begin: 1_000, end: 2_000 });
  expect(longestGap([1_100], 1_000, 2_000)).toEqual({ begin: 1_100, end: 2_000 });
});

it('measures from the first commit of the new primary to the next write of the service', () => {
  expect(recoveryAfterFailover([1_000, 9_000, 9_500], [1_200, 9_700, 9_800], 0, 10_000)).toBe(700);
});

it('returns undefined if the primary had no outage, and infinity if the service does not recover', () => {
  expect(recoveryAfterFailover([1_000, 2_000, 3_000], [1_000, 3_000], 500, 3_500)).toBeUndefined();
  expect(recoveryAfterFailover([1_000, 9_000], [1_000], 0, 9_500)).toBe(Infinity);
});

it('has figures in seconds with one decimal', () => {
  const measurement = { fault: 'cut', withoutWritesMs: 4_440, recoveryAfterFailoverMs: undefined, errors: ['a'] };
  expect(figuresOf(measurement)).toEqual({ fault: 'cut', figures: { 'No writes, s': 4.4, Errors: 1 } });
  expect(figuresOf({ ...measurement, recoveryAfterFailoverMs: 960 }).figures).toEqual({
    'No writes, s': 4.4,
    'After new primary, s': 1,
    Errors: 1,
  });
});

it('sums verdicts', () => {
  const verdict = { acknowledged: 4, stored: 3, lost: 2, duplicates: 1 };
  expect(sumOf([verdict, verdict])).toEqual({ acknowledged: 8, stored: 6, lost: 4, duplicates: 2 });
});
