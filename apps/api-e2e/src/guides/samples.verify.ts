import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { itRunsSamples } from './run-samples.js';
import { GUIDES } from './samples.js';

/** Programs by Debian package, with an argument that prints the version. */
const PROGRAMS = { curl: ['curl', '--version'], python3: ['python3', '--version'], 'golang-go': ['go', 'version'] } as const;

describe('the samples of the guides, each in its own process, with the installed curl, Python and Go', () => {
  beforeAll(() => {
    for (const [name, [program, argument]] of Object.entries(PROGRAMS)) {
      try {
        execFileSync(program, [argument]);
      } catch (cause) {
        throw new Error(`there is no ${program}: install Debian's package ${name} (apt-get install ${name})`, { cause });
      }
    }
  });

  itRunsSamples([
    { language: 'sh', file: 'sample.sh', command: ['sh', '-eu'] },
    { language: 'python', file: 'sample.py', command: ['python3'] },
    { language: 'go', file: 'sample.go', command: ['go', 'run'] },
    { language: 'ts', file: 'sample.ts', command: [process.execPath] },
  ]);

  it('the Go programs are formatted', () => {
    expect(execFileSync('gofmt', ['-d', join(GUIDES, 'samples')], { encoding: 'utf8' })).toBe('');
  });
});
