import { join } from 'node:path';

const SETUP = join(import.meta.dirname, 'tools/checks/src/jest');

const RULES = { statements: 95, branches: 95 };

// Specs start some hundred processes, which load the same packages.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '.nx/compile-cache');

// On a busy machine, a new connection takes longer than users would wait for it.
process.env.PGCONNECT_TIMEOUT = '60';

/**
 * The specs of all projects. Specs are native ES modules: SWC strips the types and keeps the metadata of decorators, and the condition
 * `@animal-store/source` resolves libraries to their sources.
 * @type {import('jest').Config}
 */
export default {
  // The same for every set of roots, so that each library is transformed once and not once per project.
  id: 'animal-store',
  rootDir: import.meta.dirname,
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/examples', '<rootDir>/tools'],
  testEnvironment: 'node',
  testMatch: ['**/src/**/*.spec.ts'],
  // Specs import them. Otherwise, Jest creates its object again for each module of each package.
  injectGlobals: false,
  extensionsToTreatAsEsm: ['.ts'],
  resolver: join(SETUP, 'resolver.js'),
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
  globalSetup: join(SETUP, 'global-setup.ts'),
  globalTeardown: join(SETUP, 'global-teardown.ts'),
  // Most specs wait rather than compute.
  maxWorkers: 3,
  // Longer than `waitFor`, which says what it waited for.
  testTimeout: 180_000,
  workerIdleMemoryLimit: '800MB',
  coverageProvider: 'v8',
  collectCoverageFrom: ['{apps/{api,cli},libs/**,examples/**}/src/**/*.ts', '!**/*.{spec,verify,suite}.ts', '!**/testing/**'],
  coverageReporters: ['text-summary', 'json', 'html'],
  coverageThreshold: {
    global: { statements: 90, branches: 85 },
    './libs/kernel/src/': RULES,
    './libs/pets/domain/src/': RULES,
    './libs/pets/application/src/': RULES,
    './libs/access/domain/src/': RULES,
    './libs/access/application/src/': RULES,
  },
};
