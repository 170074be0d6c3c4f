import { describe, expect, it } from 'vitest';
import { summarize, type Task } from './summary.js';

const counts = (numPassedTests: number, numFailedTests = 0, numPendingTests = 0) => ({ numPassedTests, numFailedTests, numPendingTests });
const task = (target: string, status = 0, projectName = 'pets-domain'): Task => ({ projectName, target, status });

describe('summarize', () => {
  it('adds up what passed in every project', () => {
    const results = new Map([
      ['pets-domain', counts(12)],
      ['kernel', counts(30)],
    ]);
    const summary = summarize([task('test'), task('lint'), task('test', 0, 'kernel')], (project) => results.get(project));
    expect(summary).toEqual({
      lines: [
        'project      lint  typecheck  build  test',
        'kernel       -     -          -      30 passed',
        'pets-domain  ok    -          -      12 passed',
      ],
      passed: 42,
      failed: 0,
    });
  });

  it.each(['lint', 'typecheck', 'build'])('counts a failed %s as one failure', (target) => {
    const summary = summarize([task(target, 1), task('test')], () => counts(12));
    expect(summary).toMatchObject({ passed: 12, failed: 1 });
    expect(summary.lines[1]).toContain('FAILED');
  });

  it('counts each failed test', () => {
    const summary = summarize([task('test', 1)], () => counts(10, 3));
    expect(summary).toMatchObject({ passed: 10, failed: 3 });
    expect(summary.lines[1]).toContain('FAILED, 10 passed, 3 failed');
  });

  it('counts failed tests though the task says that it succeeded', () => {
    expect(summarize([task('test', 0)], () => counts(10, 3))).toMatchObject({ failed: 3 });
  });

  it('counts a run of tests that failed without a failed test, such as a file that cannot be loaded', () => {
    expect(summarize([task('test', 1)], () => counts(10))).toMatchObject({ passed: 10, failed: 1 });
  });

  it('counts a run of tests that left no results', () => {
    expect(summarize([task('test', 0)], () => undefined)).toMatchObject({ passed: 0, failed: 1 });
  });

  it('shows skipped tests', () => {
    expect(summarize([task('test')], () => counts(10, 0, 2)).lines[1]).toContain('10 passed, 2 skipped');
  });
});
