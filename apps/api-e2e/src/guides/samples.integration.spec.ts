import { describe, expect, it } from '@jest/globals';
import { itRunsSamples } from './run-samples.js';
import { readSamples } from './samples.js';

describe('the samples of the guides', () => {
  itRunsSamples(
    [
      { language: 'sh', file: 'sample.sh', command: ['sh', '-eu'] },
      { language: 'js', file: 'sample.mjs', command: [process.execPath] },
    ],
    true,
  );

  it('are in every language that a test runs, for each request', () => {
    const samples = [...readSamples().values()].flat();
    const count = (wanted: string) => samples.filter(({ language }) => language === wanted).length;
    expect(count('python')).toBeGreaterThan(5);
    expect(count('ts')).toBe(count('python'));
    expect(count('js')).toBeGreaterThanOrEqual(count('python'));
  });
});
