import { defineConfig } from 'vitest/config';

// One configuration for every project: `vitest run <project>/src/`. A spec that wants PostgreSQL says so by its suffix.
const POSTGRES_SPECS = '**/*.integration.spec.ts';
// The specs of a project share one process, since loading NestJS and TypeORM takes longer than most specs; not those that
// set what Nx reads when it is loaded.
const ISOLATED_SPECS = 'tools/checks/src/**/*.spec.ts';
const NOT_OURS = ['**/node_modules/**', '**/dist/**', '.nx/**'];
/** Not what coverage is asked of: the tests and their support, and what only `npm run verify:image` can run. */
const TEST_CODE = ['**/*.spec.ts', '**/*.verify.ts', '**/*.contract.ts', '**/src/testing/**', 'libs/*/testing/**', 'apps/api-e2e/**'];
const NEEDS_DEBIAN = ['tools/package/src/{verify-image,buildah,container}.ts'];
/** Measures for minutes; its own specs hold its arithmetic. */
const MEASURES = ['tools/bench/**'];
/** What starts all tests or measures them, and so runs in none; and scripts of a few lines that write into the workspace. */
const RUNS_TESTS = [
  'tools/testing/src/{run-tests,run-coverage,child-coverage,lint.executor}.ts',
  '{apps/api/src/write-{bundle,openapi},tools/checks/src/record-release}.ts',
];
/** Generous: a busy machine is no reason for a test to fail. */
const patience = { testTimeout: 30_000, hookTimeout: 60_000 };
const shared = {
  // The oldest supported syntax of decorators is what NestJS, TypeORM and class-validator read.
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true }, assumptions: { setPublicClassFields: true } },
  resolve: { conditions: ['@animal-store/source', 'node'] },
  ssr: { resolve: { conditions: ['@animal-store/source', 'node'], externalConditions: ['node'] } },
};

export default defineConfig({
  test: {
    passWithNoTests: true,
    coverage: {
      provider: 'v8',
      include: ['{apps,libs,tools}/**/src/**/*.ts'],
      exclude: [...TEST_CODE, ...NEEDS_DEBIAN, ...MEASURES, ...RUNS_TESTS],
      reporter: ['json'],
      reportsDirectory: 'coverage',
      clean: false,
      reportOnFailure: true,
    },
    projects: [
      {
        ...shared,
        test: {
          name: 'unit',
          ...patience,
          isolate: false,
          include: ['**/src/**/*.spec.ts'],
          exclude: [POSTGRES_SPECS, ISOLATED_SPECS, ...NOT_OURS],
        },
      },
      {
        ...shared,
        test: { name: 'isolated', ...patience, include: [ISOLATED_SPECS], exclude: NOT_OURS },
      },
      {
        ...shared,
        test: {
          name: 'integration',
          ...patience,
          isolate: false,
          include: [POSTGRES_SPECS],
          exclude: NOT_OURS,
          globalSetup: ['./libs/local-postgres/src/testing/postgres.global-setup.ts'],
          // Vite puts its own BASE_URL into the environment of a worker.
          env: { BASE_URL: process.env['BASE_URL'] ?? '' },
        },
      },
    ],
  },
});
