import { globSync } from 'node:fs';
import { dirname } from 'node:path';
import preset from './jest.preset.js';

// Stryker runs the specs in a copy of the workspace whose node_modules links back to the original libraries.
const libraries = globSync(['libs/*/package.json', 'libs/*/*/package.json'], { cwd: import.meta.dirname }).map((file) => dirname(file));

export default {
  ...preset,
  roots: ['<rootDir>/libs'],
  testMatch: ['<rootDir>/libs/{kernel,*/domain,*/application,*/testing}/src/**/*.spec.ts'],
  testPathIgnorePatterns: ['\\.integration\\.spec\\.ts$'],
  moduleNameMapper: {
    ...preset.moduleNameMapper,
    ...Object.fromEntries(
      libraries.map((folder) => [
        `^@animal-store/${folder.slice('libs/'.length).replaceAll('/', '-')}$`,
        `<rootDir>/${folder}/src/index.ts`,
      ]),
    ),
  },
  globalSetup: undefined,
  globalTeardown: undefined,
  testTimeout: 60_000,
};
