import { join } from 'node:path';

const RUNNER = join(import.meta.dirname, 'tools/checks/src/test-runner');

/**
 * How specs run, also with coverage (tools/checks/src/test-runner) and in mutation tests (stryker.config.mjs). Specs are native ES
 * modules: SWC strips the types and keeps the metadata of decorators, and the condition `@animal-store/source` resolves libraries to
 * their sources.
 * @type {import('jest').Config}
 */
export default {
  // The same for every set of roots, so that each library is transformed once and not once per project.
  id: 'animal-store',
  testEnvironment: 'node',
  testMatch: ['**/src/**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  resolver: join(RUNNER, 'jest-resolver.js'),
  testEnvironmentOptions: { customExportConditions: ['@animal-store/source', 'node', 'node-addons'] },
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
          target: 'es2024',
          keepClassNames: true,
        },
        module: { type: 'es6' },
      },
    ],
  },
  globalSetup: join(RUNNER, 'jest-global-setup.ts'),
  globalTeardown: join(RUNNER, 'jest-global-teardown.ts'),
  reporters: ['default', join(RUNNER, 'no-test-reporter.js')],
  // Most specs wait rather than compute. Nx runs several projects at once, most of them with one worker or none (inferred-targets.ts).
  maxWorkers: 2,
  // Longer than `waitFor`, which says what it waited for.
  testTimeout: 180_000,
  workerIdleMemoryLimit: '800MB',
};
