import { describe, expect, it } from '@jest/globals';
import type { TaskResult } from '@nx/devkit';
import { summarize } from './summary.js';

type Status = TaskResult['status'];

function result(project: string, target: string, status: Status = 'success', terminalOutput = ''): TaskResult {
  const task = { id: `${project}:${target}`, target: { project, target }, outputs: [], overrides: {}, parallelism: true };
  return { task, status, code: 0, terminalOutput } as unknown as TaskResult;
}

const jest = (counts: string) => `PASS src/pet.spec.ts\n\nTest Suites: 1 passed, 1 total\nTests:       ${counts}\nSnapshots:   0 total\n`;
const lastLine = (...results: TaskResult[]) => summarize(results).split('\n').at(-1);

describe('summarize', () => {
  it('prints a line per tested project, sorted, and the sum last', () => {
    const results = [
      result('pets-domain', 'build'),
      result('pets-domain', 'test', 'success', jest('12 passed, 12 total')),
      result('database', 'build', 'local-cache'),
      result('kernel', 'test', 'local-cache', jest('30 passed, 30 total')),
    ];
    expect(summarize(results)).toBe('kernel       30 passed\npets-domain  12 passed\n\n42 passed, 0 failed');
  });

  it.each(['lint', 'typecheck', 'build'])('counts a failed %s as one failure and names it', (target) => {
    const summary = summarize([result('kernel', target, 'failure'), result('kernel', 'test', 'success', jest('30 passed, 30 total'))]);
    expect(summary).toBe(`kernel  30 passed  ${target} failure\n\n30 passed, 1 failed`);
  });

  it('counts each failed test', () => {
    expect(lastLine(result('kernel', 'test', 'failure', jest('3 failed, 10 passed, 13 total')))).toBe('10 passed, 3 failed');
  });

  it('counts a failed test task without a failed test, such as a file that cannot be loaded', () => {
    expect(lastLine(result('kernel', 'test', 'failure', jest('10 passed, 10 total')))).toBe('10 passed, 1 failed');
  });

  it.each<Status>(['skipped', 'stopped'])('counts a %s task', (status) => {
    expect(summarize([result('kernel', 'test', status)])).toBe(`kernel  0 passed  test ${status}\n\n0 passed, 1 failed`);
  });

  it('reads coloured output, and only of tests', () => {
    const coloured = jest('\u001b[1m\u001b[32m7 passed\u001b[39m\u001b[22m, 7 total').replace('Tests:', '\u001b[1mTests:\u001b[22m');
    expect(lastLine(result('kernel', 'test', 'success', coloured), result('kernel', 'build', 'success', jest('9 passed, 9 total')))).toBe(
      '7 passed, 0 failed',
    );
  });
});
