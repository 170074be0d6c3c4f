import { describe, expect, it } from '@jest/globals';
import { cpuMs, type Measurement, median, perSecond, ratio, spread } from './measurement.js';

const measured = (value: number) => ({ perSecond: value }) as Measurement;
const ratioOf = (target: readonly number[], peer: readonly number[]) =>
  ratio({ target: target.map(measured), peer: peer.map(measured) }, 'target', 'peer', perSecond);

describe('median', () => {
  it.each([
    [[3], 3],
    [[9, 1, 5], 5],
    [[10, 9, 1, 2], 5.5],
    [[], NaN],
  ])('of %j is %d', (numbers, expected) => expect(median(numbers)).toBe(expected));
});

describe('ratio', () => {
  it('is the median of the ratios, not the ratio of the medians', () => {
    expect(ratioOf([2, 20, 6], [1, 10, 4])).toBe(2);
    // The medians alone would give 6 / 4.
    expect(ratioOf([2, 20, 6], [4, 10, 1])).toBe(2);
  });

  it('leaves out rounds that one side lacks, and division by zero', () => {
    expect(ratioOf([4, 6], [2])).toBe(2);
    expect(ratioOf([4, 6], [0, 2])).toBe(3);
    expect(ratioOf([], [1])).toBeNaN();
  });
});

it('spread is the range divided by the median', () => {
  expect(spread([8, 10, 12])).toBeCloseTo(0.4);
});

it('reads the CPU time of /proc/<pid>/stat with spaces and brackets in the name', () => {
  expect(cpuMs('7 (io (worker) 1) S 1 7 7 0 -1 64 5 0 0 0 11 22 33 44 20 0 1')).toBe(1_100);
});
