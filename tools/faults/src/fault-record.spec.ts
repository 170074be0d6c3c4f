import { expect, it } from '@jest/globals';
import { mergeRuns } from './fault-record.js';

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
