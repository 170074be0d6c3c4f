import { execFileSync } from 'node:child_process';
import { beforeAll, describe } from '@jest/globals';
import { itRunsSamples } from './run-samples.js';

describe('the samples of the guides, with the installed curl and Python', () => {
  beforeAll(() => {
    for (const program of ['curl', 'python3']) {
      try {
        execFileSync(program, ['--version']);
      } catch (cause) {
        throw new Error(`npm run verify:guides needs ${program}`, { cause });
      }
    }
  });

  itRunsSamples(
    [
      { language: 'sh', file: 'sample.sh', command: ['sh', '-eu'] },
      { language: 'python', file: 'sample.py', command: ['python3'] },
    ],
    { withCurl: true },
  );
});
