import { execFileSync } from 'node:child_process';
import { beforeAll, describe } from '@jest/globals';
import { itRunsSamples } from './run-samples.js';

describe('the samples of the guides, each in its own process, with the installed curl and Python', () => {
  beforeAll(() => {
    for (const program of ['curl', 'python3']) {
      try {
        execFileSync(program, ['--version']);
      } catch (cause) {
        throw new Error(`npm run verify -- samples needs ${program}`, { cause });
      }
    }
  });

  itRunsSamples([
    { language: 'sh', file: 'sample.sh', command: ['sh', '-eu'] },
    { language: 'python', file: 'sample.py', command: ['python3'] },
    { language: 'ts', file: 'sample.ts', command: [process.execPath] },
    { language: 'js', file: 'sample.mjs', command: [process.execPath] },
  ]);
});
