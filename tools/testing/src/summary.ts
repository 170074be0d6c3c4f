export const TARGETS = ['lint', 'typecheck', 'build', 'test'] as const;

/** A task that ran or came from the cache; a task whose dependency failed is not among them. */
export interface Task {
  readonly projectName: string;
  readonly target: string;
  /** Its exit code. */
  readonly status: number;
}

/** What Vitest's JSON reporter counts; https://vitest.dev/guide/reporters#json-reporter. */
export interface TestCounts {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
}

export interface Summary {
  readonly lines: readonly string[];
  readonly passed: number;
  readonly failed: number;
}

/** One row for each project, and the sums. Every failed task counts as one failure at least. */
export function summarize(tasks: readonly Task[], countsOf: (project: string) => TestCounts | undefined): Summary {
  let passed = 0;
  let failed = 0;
  const byProject = Map.groupBy(tasks, ({ projectName }) => projectName);
  const rows = [...byProject]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([project, ofProject]) => {
      const cells = TARGETS.map((target) => {
        const task = ofProject.find((candidate) => candidate.target === target);
        if (!task) return '-';
        const counts = target === 'test' ? countsOf(project) : NO_TESTS;
        const ok = task.status === 0 && counts?.numFailedTests === 0;
        passed += counts?.numPassedTests ?? 0;
        if (!ok) failed += Math.max(1, counts?.numFailedTests ?? 0);
        return target === 'test' ? testCell(ok, counts) : ok ? 'ok' : 'FAILED';
      });
      return [project, ...cells];
    });
  return { lines: table([['project', ...TARGETS], ...rows]), passed, failed };
}

const NO_TESTS: TestCounts = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0 };

function testCell(ok: boolean, counts: TestCounts | undefined): string {
  if (!counts) return 'FAILED, no results';
  const parts = [`${counts.numPassedTests} passed`];
  if (counts.numFailedTests > 0) parts.push(`${counts.numFailedTests} failed`);
  if (counts.numPendingTests > 0) parts.push(`${counts.numPendingTests} skipped`);
  return ok ? parts.join(', ') : `FAILED, ${parts.join(', ')}`;
}

export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
