import { expect, it } from '@jest/globals';
import { countMutants } from './mutation-scores.js';

it('mutants count as by Stryker', () => {
  const mutants = ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'CompileError', 'RuntimeError', 'Ignored'].map((status) => ({ status }));
  expect(countMutants({ files: { 'a.ts': { mutants }, 'b.ts': { mutants: [{ status: 'Killed' }] } } })).toEqual({
    mutants: 5,
    detected: 3,
  });
});
