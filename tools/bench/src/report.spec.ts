import { describe, expect, it } from '@jest/globals';
import type { BenchResult } from './bench.js';
import { parseWrk } from './load.js';
import { cpuMs, median, type Measurement } from './measurement.js';
import { replaceTable, resultTable, summaryTable } from './report.js';

const measured = (perSecond: number, serviceCpu: number): Measurement => {
  return { perSecond, p50Ms: serviceCpu / 100, p99Ms: 2, errors: 0, serviceCpu, postgresCpu: 10 };
};
const rounds = {
  'animal-store': [measured(100, 20), measured(300, 50), measured(200, 10)],
  baseline: [measured(100, 40), measured(300, 110), measured(200, 30)],
};
const result: BenchResult = { origin: 'Origin.', failures: [], scenarios: [{ workload: 'mixed', connections: 64, rounds }] };
const cells = (line = '') => line.split('|').map((cell) => cell.trim());

it('the table has the medians, and the median of the ratios of each round', () => {
  const [, , header, , own, baseline] = resultTable(result).split('\n');
  expect(cells(header).slice(-3)).toEqual(['CPU ÷ baseline', 'p50 ÷ baseline', '']);
  expect(cells(own)).toEqual(['', 'mixed, 64, animal-store', '200', '0.20', '2.00', '20.0', '10.0', '0.50', '0.45', '']);
  expect(cells(baseline).slice(-3)).toEqual(['1.00', '1.00', '']);
});

it('the table of README.md replaces only the text between the markers', () => {
  const page = '# Title\n\n<!-- bench: written by a command -->\n\nold\n\n<!-- end of bench -->\n\n## Next\n';
  expect(replaceTable(page, 'new')).toBe(page.replace('old', 'new'));
  expect(() => replaceTable('# Title\n', 'new')).toThrow('The page has no markers of the section bench.');
  expect(cells(summaryTable(result).split('\n')[4])).toEqual(['', 'animal-store', '200', '30.0', '2.00', '']);
});

describe('measurements', () => {
  it.each([
    [[3, 1, 2], 2],
    [[4, 1, 2, 3], 2.5],
    [[], NaN],
  ])('the median of %j is %d', (numbers, expected) => expect(median(numbers)).toBe(expected));

  it('CPU time comes from the fields after the name of the program, which may contain spaces', () => {
    const stat = `7 (a (b) c) S ${'0 '.repeat(10)}10 20 30 40 0`;
    expect(cpuMs(stat)).toBe(1_000);
  });

  it('the result of wrk is the line of its script', () => {
    expect(parseWrk('Running\nRESULT {"requests":1}\n')).toEqual({ requests: 1 });
    expect(() => parseWrk('unable to connect')).toThrow('wrk printed no result: unable to connect');
  });
});
