/** `npm run verify:mutation`: changes the business rules in every way it knows, one at a time, and expects a test to notice. */
export default {
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  jest: { configFile: 'jest.mutation.config.js', enableFindRelatedTests: false },
  plugins: ['@stryker-mutator/jest-runner'],
  mutate: ['libs/kernel/src/**/*.ts', 'libs/*/{domain,application}/src/**/*.ts', '!**/*.spec.ts', '!**/index.ts'],
  // Files that the mutated copy does not need.
  ignorePatterns: ['/apps', '/docs', 'dist', '.data'],
  tempDirName: '.nx/stryker',
  reporters: ['clear-text', 'progress', 'html'],
  htmlReporter: { fileName: 'coverage/mutation.html' },
  clearTextReporter: { allowColor: false, reportTests: false, skipFull: true },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  // Node.js keeps the modules of earlier runs in memory: https://github.com/nodejs/node/issues/63186
  maxTestRunnerReuse: 20,
  // A busy machine must not count as a detected mutant.
  timeoutMS: 15_000,
  thresholds: { high: 95, low: 90, break: 90 },
  allowConsoleColors: false,
};
