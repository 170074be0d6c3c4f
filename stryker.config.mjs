/**
 * `npm run verify:mutation`: changes the business rules in every way it knows, one at a time, and expects a test to notice.
 * @type {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'vitest.mutation.config.ts', related: false },
  plugins: ['@stryker-mutator/vitest-runner'],
  mutate: ['libs/kernel/src/**/*.ts', 'libs/*/{domain,application}/src/**/*.ts', '!**/*.spec.ts', '!**/index.ts'],
  // What the copy that is changed does not need.
  ignorePatterns: ['/apps', '/tools', '/docs', 'dist', 'test-results', '.data'],
  tempDirName: '.nx/stryker',
  reporters: ['clear-text', 'progress', 'html'],
  htmlReporter: { fileName: 'coverage/mutation.html' },
  clearTextReporter: { allowColor: false, reportTests: false, skipFull: true },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  thresholds: { high: 95, low: 90, break: 90 },
  allowConsoleColors: false,
};
