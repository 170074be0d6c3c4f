import { describe, expect, it } from 'vitest';
import { reportCoverage } from './coverage-table.js';
import { addHits, type FileCoverage } from './merge-coverage.js';

const at = (line: number, column = 0) => ({ start: { line, column } });

/** A file with two statements, a function and a branch with two arms. */
function file(s: number[], f: number, b: number[], branchAt = at(3, 7)): FileCoverage {
  return {
    statementMap: { 0: at(1), 1: at(3, 2) },
    fnMap: { 0: { loc: at(2) } },
    branchMap: { 0: { type: 'cond-expr', loc: branchAt } },
    s: Object.fromEntries(s.entries()),
    f: { 0: f },
    b: { 0: b },
  };
}

describe('addHits', () => {
  it('counts what was seen elsewhere, by where it begins', () => {
    const coverage = { 'a.ts': file([1, 0], 0, [1, 0]) };
    addHits(coverage, { 'a.ts': file([2, 3], 4, [0, 5]) });
    expect(coverage['a.ts']).toMatchObject({ s: { 0: 3, 1: 3 }, f: { 0: 4 }, b: { 0: [1, 5] } });
  });

  it('counts nothing for what begins elsewhere, nor for files that are not asked for', () => {
    const coverage = { 'a.ts': file([1, 0], 0, [0, 0]) };
    addHits(coverage, { 'a.ts': file([0, 0], 0, [1, 1], at(3, 8)), 'b.ts': file([1, 1], 1, [1, 1]) });
    expect(coverage).toEqual({ 'a.ts': file([1, 0], 0, [0, 0]) });
  });
});

describe('reportCoverage', () => {
  const domain = '/w/libs/pets/domain/src/pet.ts';
  const others = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`/w/apps/api/src/${i}.ts`, file([1, 1], 1, [1, 1])]));

  it('has a row for each project and the whole', () => {
    expect(reportCoverage({ ...others(2), [domain]: file([1, 1], 1, [1, 1]) }, '/w')).toEqual({
      lines: [
        'project           statements  branches',
        'apps/api          100.0 %     100.0 %',
        'libs/pets/domain  100.0 %     100.0 %',
        'all               100.0 %     100.0 %',
      ],
      gaps: [],
    });
  });

  it('names each line of a domain that is not reached, be it one of a thousand', () => {
    const { gaps } = reportCoverage({ ...others(1000), [domain]: file([1, 1], 1, [1, 0]) }, '/w');
    expect(gaps).toEqual(['libs/pets/domain/src/pet.ts:3 is not reached']);
  });

  it('takes what has no branches for reached, and lets other projects have gaps', () => {
    const kernel = { ...file([1, 1], 1, []), branchMap: {}, b: {} };
    const cli = file([1, 1], 1, [1, 0]);
    const { lines, gaps } = reportCoverage({ ...others(10), '/w/libs/kernel/src/clock.ts': kernel, '/w/apps/cli/src/main.ts': cli }, '/w');
    expect(lines.slice(1, 4)).toEqual([
      'apps/api     100.0 %     100.0 %',
      'apps/cli     100.0 %     50.0 %',
      'libs/kernel  100.0 %     100.0 %',
    ]);
    expect(gaps).toEqual([]);
  });

  it('says when the whole is not enough', () => {
    const { gaps } = reportCoverage({ ...others(1), '/w/apps/cli/src/main.ts': file([0, 0], 0, [0, 0]) }, '/w');
    expect(gaps).toEqual(['50.0 % of all statements are fewer than 90 %', '50.0 % of all branches are fewer than 90 %']);
  });
});
