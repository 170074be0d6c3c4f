import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What is mutated, and the specs that must detect it. `AREA=client npx stryker run` mutates one area. */
const AREAS = {
  rules: {
    mutate: ['libs/kernel/src/**/*.ts', 'libs/*/{domain,application}/src/**/*.ts'],
    projects: ['libs'],
    specs: ['libs/{kernel,*/domain,*/application}/src/**/*.spec.ts'],
    minScore: 90,
  },
  client: {
    mutate: ['libs/client/src/**/*.ts'],
    projects: ['libs/client'],
    specs: ['libs/client/src/**/*.spec.ts'],
    minScore: 85,
  },
};

const mutationArea = AREAS[process.env.AREA ?? 'rules'];
if (!mutationArea) throw new Error(`AREA must be one of ${Object.keys(AREAS).join(', ')}`);
// A moved file must not pass as one without mutants.
for (const pattern of [...mutationArea.mutate, ...mutationArea.specs])
  if (globSync(pattern, { cwd: import.meta.dirname }).length === 0) throw new Error(`No file matches ${pattern} in stryker.config.mjs`);

/** Changes the code in every way it knows, one at a time, and expects a test to fail. */
export default {
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  // Runs only the spec files that import the mutated file. These options replace those of jest.config.js in the mutated copy.
  jest: {
    enableFindRelatedTests: true,
    config: {
      roots: mutationArea.projects.map((folder) => `<rootDir>/${folder}`),
      testMatch: mutationArea.specs.map((pattern) => `**/${pattern}`),
      // Stryker accepts no other name.
      testRunner: '<rootDir>/tools/checks/src/jest/circus-of-selected-tests.js',
      moduleNameMapper: sourcesOfPackages(),
      globalSetup: null,
      globalTeardown: null,
      // A mutant that waits for ever costs this long.
      testTimeout: 5_000,
    },
  },
  plugins: ['@stryker-mutator/jest-runner'],
  mutate: [...mutationArea.mutate, '!**/*.spec.ts', '!**/index.ts', '!**/testing/**', '!**/*.generated.ts'],
  // Files that the mutated copy does not need.
  ignorePatterns: ['/docs', '/.nx', 'dist', 'bundle', '.data', 'coverage'],
  tempDirName: '.nx/stryker',
  incremental: true,
  incrementalFile: `.nx/stryker-${process.env.AREA ?? 'rules'}.json`,
  reporters: ['clear-text', 'progress', 'html', 'json'],
  jsonReporter: { fileName: `coverage/mutation-${process.env.AREA ?? 'rules'}.json` },
  htmlReporter: { fileName: `coverage/mutation-${process.env.AREA ?? 'rules'}.html` },
  clearTextReporter: { allowColor: false, reportTests: false, skipFull: true },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  // Node.js keeps the modules of earlier runs in memory: https://github.com/nodejs/node/issues/63186
  maxTestRunnerReuse: 20,
  // A busy machine must not count as a detected mutant.
  timeoutMS: 15_000,
  thresholds: { high: 95, low: mutationArea.minScore, break: mutationArea.minScore },
  allowConsoleColors: false,
};

/** Maps each import of a workspace package to its source. Stryker copies the workspace, and node_modules of the copy links to the original. */
function sourcesOfPackages() {
  const files = globSync('{apps,libs,libs/*,examples/*}/*/package.json', { cwd: import.meta.dirname });
  const entries = files.flatMap((file) => {
    const { name, exports = {} } = JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8'));
    return Object.entries(exports).flatMap(([path, { '@animal-store/source': source } = {}]) =>
      source ? [[`^${join(name, path)}$`, join('<rootDir>', dirname(file), source)]] : [],
    );
  });
  return Object.fromEntries(entries);
}
