import { join } from 'node:path';
import { requirePinnedNode } from './tools/pinned-node.mjs';

requirePinnedNode();

/**
 * Shared by the Jest configuration of every project. Specs are native ES modules: SWC strips the types and keeps the metadata
 * of decorators, and the condition `@animal-store/source` resolves libraries to their sources.
 * @type {import('jest').Config}
 */
export default {
  // The same for every project, so that each library is transformed once and not once per project.
  id: 'animal-store',
  testEnvironment: 'node',
  testMatch: ['**/src/**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': ['$1.js', '$1.ts'] },
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
  globalSetup: join(import.meta.dirname, 'tools/test-runner/src/jest-global-setup.ts'),
  globalTeardown: join(import.meta.dirname, 'tools/test-runner/src/jest-global-teardown.ts'),
  reporters: ['default', join(import.meta.dirname, 'tools/test-runner/src/no-test-reporter.js')],
  // Most specs wait rather than compute. Nx runs several projects at once, most of them without workers (nx.json).
  maxWorkers: 2,
  // Long, because a busy machine must not fail a test.
  testTimeout: 300_000,
  workerIdleMemoryLimit: '800MB',
};
