import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import preset from './jest.preset.js';
import { mutationArea } from './stryker.config.mjs';

/** Maps each import of a workspace package to its source. Stryker copies the workspace, and node_modules of the copy links to the original. */
const sources = globSync('{apps,libs,libs/*}/*/package.json', { cwd: import.meta.dirname }).flatMap((file) => {
  const { name, exports = {} } = JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8'));
  return Object.entries(exports).flatMap(([path, { '@animal-store/source': source } = {}]) =>
    source ? [[`^${join(name, path)}$`, join('<rootDir>', dirname(file), source)]] : [],
  );
});

export default {
  ...preset,
  roots: mutationArea.projects.map((folder) => `<rootDir>/${folder}`),
  testMatch: mutationArea.specs.map((pattern) => `**/${pattern}`),
  testRunner: '<rootDir>/jest-circus.mutation.js',
  moduleNameMapper: { ...preset.moduleNameMapper, ...Object.fromEntries(sources) },
  // stryker.config.mjs starts PostgreSQL once for all mutants.
  globalSetup: undefined,
  globalTeardown: undefined,
  // A mutant that waits for ever costs this long.
  testTimeout: mutationArea.usesPostgres ? 60_000 : 5_000,
};
