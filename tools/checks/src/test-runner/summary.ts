import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskResult } from '@nx/devkit';

/** Where Jest writes its report (`inferred-targets.ts`), relative to the root of a project. */
export const REPORT = 'test-results.json';

/** One line per tested or failed project, then `N passed, N failed`. A failed task without a failed test counts as one failure. */
export function summarize(results: readonly TaskResult[], workspaceRoot: string): string {
  const rows = Object.entries(Object.groupBy(results, ({ task }) => task.target.project))
    .map(([project, ofProject = []]) => {
      // A skipped task depends on a failed one; a stopped one was interrupted.
      const failures = ofProject.filter(({ status }) => ['failure', 'skipped', 'stopped'].includes(status));
      return {
        project,
        isTested: ofProject.some(({ task }) => task.target.target === 'test'),
        passed: sum(ofProject.map((result) => readReport(result, workspaceRoot)?.numPassedTests ?? 0)),
        failed: sum(failures.map((result) => Math.max(1, readReport(result, workspaceRoot)?.numFailedTests ?? 0))),
        tasks: failures.map(({ task, status }) => `${task.target.target} ${status}`),
      };
    })
    .filter(({ isTested, failed }) => isTested || failed > 0)
    .sort((one, other) => one.project.localeCompare(other.project));
  const width = Math.max(0, ...rows.map(({ project }) => project.length));
  const lines = rows.map(({ project, passed, tasks }) => [project.padEnd(width), `${passed} passed`, ...tasks].join('  '));
  const total = `${sum(rows.map(({ passed }) => passed))} passed, ${sum(rows.map(({ failed }) => failed))} failed`;
  return [...lines, '', total].join('\n');
}

/** Reads the report of a test task (https://jestjs.io/docs/cli#--json). Undefined if the task has not written one. */
function readReport({ task, status }: TaskResult, workspaceRoot: string) {
  const file = join(workspaceRoot, task.projectRoot ?? '', REPORT);
  if (task.target.target !== 'test' || !existsSync(file)) return undefined;
  const report = JSON.parse(readFileSync(file, 'utf8')) as Record<'startTime' | 'numPassedTests' | 'numFailedTests', number>;
  return status.includes('cache') || report.startTime >= (task.startTime ?? Infinity) ? report : undefined;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
