import { describe, expect, it } from '@jest/globals';
import { type Bar, barChart } from './bar-chart.js';
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

it('merges the runs of a fault into their number, the maxima of times and the sums of counts', () => {
  const runs = [
    { fault: 'cut', figures: { 'pause, s': 2, errors: 1 } },
    { fault: 'kill', figures: { 'pause, s': 1, errors: 0 } },
    { fault: 'cut', figures: { 'pause, s': 1, errors: 3 } },
  ];
  expect(mergeRuns(runs)).toEqual([
    { fault: 'cut', runs: 2, figures: { 'pause, s': 2, errors: 4 } },
    { fault: 'kill', runs: 1, figures: { 'pause, s': 1, errors: 0 } },
  ]);
});

describe('a bar chart', () => {
  const bar = { label: 'a & b', color: 'blue', value: 10, range: [5, 25], text: '10' } as const;
  const draw = (...bars: Bar[]) => barChart({ title: 'T', note: 'N', labelWidth: 100, textWidth: 60, groups: [{ title: 'G', bars }] });
  const widths = (svg: string) => [...svg.matchAll(/<rect [^>]*width="([\d.]+)"/g)].map(([, width]) => Number(width));

  it('scales bars and whiskers to the highest value, left of the texts, and escapes labels', () => {
    const svg = draw(bar, { ...bar, value: 20, text: '20' });
    // 368 px for 25.
    expect(widths(svg)).toEqual([147.2, 294.4]);
    expect(svg).toMatch(/class="line" d="M189\.6 .*H484v/);
    expect(svg).toContain('>a &amp; b</text>');
  });

  it('says of a bar that it was not measured, and draws no whisker for a single value', () => {
    const { range: _, ...single } = bar;
    const svg = draw(single, { ...bar, value: NaN, range: [Infinity, -Infinity] });
    expect(widths(svg)).toHaveLength(1);
    expect(svg.match(/not measured/g)).toHaveLength(1);
    expect(svg).not.toMatch(/class="line"|NaN|Infinity/);
  });
});
