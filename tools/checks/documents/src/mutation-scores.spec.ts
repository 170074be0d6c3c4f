import { expect, it } from '@jest/globals';
import { countMutants, renderMutationScores } from './mutation-scores.js';

it('mutants count as by Stryker', () => {
  const mutants = ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'CompileError', 'RuntimeError', 'Ignored'].map((status) => ({ status }));
  expect(countMutants({ files: { 'a.ts': { mutants }, 'b.ts': { mutants: [{ status: 'Killed' }] } } })).toEqual({
    mutants: 5,
    detected: 3,
  });
});

it('the page shows the share of detected changes', () => {
  const page = renderMutationScores([{ area: 'client', mutants: 1_000, detected: 969, date: '2026-01-31', commit: 'abc' }]);
  expect(page).toContain('- `client`: 96.9 % of 1,000 (2026-01-31, abc)\n');
});
