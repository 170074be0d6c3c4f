import { describe, expect, it } from '@jest/globals';
import { median, medianRatio, spread } from './statistics.js';

describe('median', () => {
  it.each([
    [[3], 3],
    [[9, 1, 5], 5],
    [[10, 9, 1, 2], 5.5],
  ])('of %j is %d', (numbers, expected) => expect(median(numbers)).toBe(expected));

  it('of an empty list is NaN', () => expect(median([])).toBeNaN());

  it('does not reorder its argument', () => {
    const numbers = [2, 1];
    median(numbers);
    expect(numbers).toEqual([2, 1]);
  });
});

describe('medianRatio', () => {
  it('is the median of the ratios, not the ratio of the medians', () => {
    expect(medianRatio([2, 20, 6], [1, 10, 4])).toBe(2);
    // The medians alone would give 6 / 4.
    expect(medianRatio([2, 20, 6], [4, 10, 1])).toBe(2);
  });

  it('leaves out rounds that one side lacks, and division by zero', () => {
    expect(medianRatio([4, 6], [2])).toBe(2);
    expect(medianRatio([4, 6], [0, 2])).toBe(3);
    expect(medianRatio([], [1])).toBeNaN();
  });
});

it('spread is the range divided by the median', () => {
  expect(spread([8, 10, 12])).toBeCloseTo(0.4);
});
