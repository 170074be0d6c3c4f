import { expect, it } from '@jest/globals';
import { mergeRuns } from './fault-record.js';
import { parseInteger, parseNames } from './options.js';
import { Random } from './random.js';

it('accepts known names', () => {
  expect(parseNames(['list', 'get'])('get, list')).toEqual(['get', 'list']);
  expect(() => parseNames(['list', 'get'])('list,put')).toThrow('"put" must be one of list, get.');
  expect(() => parseNames(['list'])('list,')).toThrow('"" must be one of list.');
});

it('accepts integers in a range', () => {
  expect(parseInteger(1, 60)('60')).toBe(60);
  for (const text of ['0', '61', '1.5', 'x', '']) expect(() => parseInteger(1, 60)(text)).toThrow('must be an integer from 1 to 60.');
});

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

it('merges the runs of a fault into their number and the maxima of their figures', () => {
  const runs = [
    { fault: 'cut', figures: { seconds: 2, errors: 0 } },
    { fault: 'kill', figures: { seconds: 1, errors: 0 } },
    { fault: 'cut', figures: { seconds: 1, errors: 3 } },
  ];
  expect(mergeRuns(runs)).toEqual([
    { fault: 'cut', runs: 2, figures: { seconds: 2, errors: 3 } },
    { fault: 'kill', runs: 1, figures: { seconds: 1, errors: 0 } },
  ]);
});
