import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { TaskResult } from '@nx/devkit';
import { REPORT, summarize } from './summary.js';

type Status = TaskResult['status'];

const folder = mkdtempSync(join(tmpdir(), 'animal-store-summary-'));

afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the result of a task. If `counts` is set, also writes a Jest report with these counts to the folder of the project. */
function result(
  project: string,
  target: string,
  status: Status = 'success',
  counts?: readonly [passed: number, failed: number],
): TaskResult {
  const startTime = 1_000;
  if (counts) {
    const file = join(folder, project, REPORT);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify({ startTime, numPassedTests: counts[0], numFailedTests: counts[1] }));
  }
  const task = { id: `${project}:${target}`, target: { project, target }, projectRoot: project, startTime, outputs: [], overrides: {} };
  return { task, status, code: 0 } as unknown as TaskResult;
}

const lastLine = (...results: TaskResult[]) => summarize(results, folder).split('\n').at(-1);

describe('summarize', () => {
  it('prints a line per tested project, sorted, and the sum last', () => {
    const results = [
      result('pets-domain', 'build'),
      result('pets-domain', 'test', 'success', [12, 0]),
      result('database', 'build', 'local-cache'),
      result('kernel', 'test', 'local-cache', [30, 0]),
    ];
    expect(summarize(results, folder)).toBe('kernel       30 passed\npets-domain  12 passed\n\n42 passed, 0 failed');
  });

  it.each(['lint', 'build'])('counts a failed %s as one failure and names it', (target) => {
    const summary = summarize([result('kernel', target, 'failure'), result('kernel', 'test', 'success', [30, 0])], folder);
    expect(summary).toBe(`kernel  30 passed  ${target} failure\n\n30 passed, 1 failed`);
  });

  it('counts each failed test', () => {
    expect(lastLine(result('kernel', 'test', 'failure', [10, 3]))).toBe('10 passed, 3 failed');
  });

  it('counts a failed test task without a failed test, such as a file that cannot be loaded', () => {
    expect(lastLine(result('kernel', 'test', 'failure', [10, 0]))).toBe('10 passed, 1 failed');
  });

  it.each<Status>(['skipped', 'stopped'])('counts a %s task', (status) => {
    expect(summarize([result('skipped', 'test', status)], folder)).toBe(`skipped  0 passed  test ${status}\n\n0 passed, 1 failed`);
  });

  it('counts no tests of a project without a report, and none for other targets', () => {
    expect(lastLine(result('empty', 'test'), result('kernel', 'test', 'success', [7, 0]), result('kernel', 'build'))).toBe(
      '7 passed, 0 failed',
    );
  });

  it('ignores the report of an earlier run', () => {
    const crashed = result('kernel', 'test', 'failure', [7, 0]);
    crashed.task.startTime = 1_001;
    expect(lastLine(crashed)).toBe('0 passed, 1 failed');
    const { startTime: _none, ...task } = result('kernel', 'test', 'skipped', [7, 0]).task;
    expect(lastLine({ ...crashed, status: 'skipped', task })).toBe('0 passed, 1 failed');
  });
});
