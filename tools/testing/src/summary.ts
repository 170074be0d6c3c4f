import { stripVTControlCharacters } from 'node:util';
import type { TaskResult } from '@nx/devkit';

/** A skipped task depends on a failed one; a stopped one was interrupted. */
const FAILED = ['failure', 'skipped', 'stopped'];

/** One line per tested or failed project, then `N passed, N failed`. A failed task without a failed test counts as one failure. */
export function summarize(results: readonly TaskResult[]): string {
  const rows = Object.entries(Object.groupBy(results, ({ task }) => task.target.project))
    .map(([project, ofProject = []]) => {
      const failedTasks = ofProject.filter(({ status }) => FAILED.includes(status));
      return {
        project,
        isTested: ofProject.some(({ task }) => task.target.target === 'test'),
        passed: sum(ofProject.map((result) => testCount(result, 'passed'))),
        failed: sum(failedTasks.map((result) => Math.max(1, testCount(result, 'failed')))),
        tasks: failedTasks.map(({ task, status }) => `${task.target.target} ${status}`),
      };
    })
    .filter(({ isTested, failed }) => isTested || failed > 0)
    .sort((one, other) => one.project.localeCompare(other.project));
  const width = Math.max(0, ...rows.map(({ project }) => project.length));
  return [
    ...rows.map(({ project, passed, tasks }) => [project.padEnd(width), `${passed} passed`, ...tasks].join('  ')),
    '',
    `${sum(rows.map(({ passed }) => passed))} passed, ${sum(rows.map(({ failed }) => failed))} failed`,
  ].join('\n');
}

/** Reads Jest's own summary, such as `Tests:       1 failed, 24 passed, 25 total`. */
function testCount({ task, terminalOutput = '' }: TaskResult, kind: 'failed' | 'passed'): number {
  if (task.target.target !== 'test') return 0;
  const [line = ''] = stripVTControlCharacters(terminalOutput).match(/^Tests: .*$/m) ?? [];
  return Number(new RegExp(`(\\d+) ${kind}`).exec(line)?.[1] ?? 0);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
