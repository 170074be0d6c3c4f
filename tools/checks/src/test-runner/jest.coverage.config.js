import { join } from 'node:path';
import jestConfig from '../../../../jest.config.js';

const ROOT = join(import.meta.dirname, '../../../..');
const FOLDER = join(ROOT, 'coverage');
/** Percent of all statements and of all branches. */
const MIN_OVERALL = 90;
/** The business rules are covered completely. */
const COMPLETE = /^libs\/(?:kernel|[^/]+\/(?:domain|application))\//;
const SOURCE = /^(?!file:).*\/(?:apps|libs|examples|tools)\/.*\/src\/.*\.ts$/;
/** What child processes run. Excludes the business rules: Jest covers them, and the coverage of SWC and tsc output does not merge exactly. */
const BUILT = /^file:.*\/(?:apps|tools|libs(?!\/(?:kernel|[^/]+\/(?:domain|application))\/))\/.*\/dist\/.*\.js$/;
const COVERED = /^(?:apps|libs|examples|tools)\/.*\/src\/.*\.ts$/;
const NOT_COVERED = [
  /\.(?:spec|verify|suite)\.ts$/,
  /\/src\/testing\//,
  /^(?:libs|examples)\/[^/]+\/testing\//,
  /^apps\/(?:api|service)-e2e\//,
  // The bench takes minutes; its specs only cover calculations.
  /^tools\/bench\//,
  // Not run by tests: code that starts the tests or writes to the workspace.
  /^tools\/checks\/src\/test-runner\/(?:jest-|task-hooks|postgres)/,
  /^tools\/(?:checks|checks\/documents|package)\/src\/(?:client\/)?(?:release|record-\w+|write-\w+)\.ts$/,
];

// Child processes run what `tsc` built, and write their coverage here (https://nodejs.org/api/cli.html#node_v8_coveragedir).
process.env.NODE_V8_COVERAGE = join(FOLDER, 'processes');
process.env.PROGRAM_FOLDER = 'dist';

/** `npx nx coverage checks`: all suites in one run, merged with the processes that they start. */
export default {
  ...jestConfig,
  rootDir: ROOT,
  collectCoverage: true,
  coverageReporters: [],
  coverageProvider: 'v8',
  reporters: [
    ...jestConfig.reporters,
    [
      'jest-monocart-coverage',
      {
        name: 'Animal Store',
        outputDir: FOLDER,
        dataDir: process.env.NODE_V8_COVERAGE,
        reports: ['v8', 'json', 'console-summary'],
        entryFilter: ({ url }) => SOURCE.test(url) || (BUILT.test(url) && !url.includes('/node_modules/')),
        sourceFilter: (path) => COVERED.test(path) && !NOT_COVERED.some((pattern) => pattern.test(path)),
        onEnd: checkThresholds,
      },
    ],
  ],
};

function checkThresholds({ summary, files }) {
  const gaps = files
    .filter(
      ({ sourcePath, summary: { statements, branches } }) => COMPLETE.test(sourcePath) && statements.uncovered + branches.uncovered > 0,
    )
    .map(({ sourcePath }) => `${sourcePath} is not covered completely`);
  for (const kind of ['statements', 'branches']) {
    if (summary[kind].pct < MIN_OVERALL) gaps.push(`${summary[kind].pct} % of all ${kind} are covered; the minimum is ${MIN_OVERALL} %`);
  }
  console.log(gaps.join('\n'));
  if (gaps.length > 0) process.exitCode = 1;
}
