import { expect, it } from '@jest/globals';
import { contextOf, contextsOf } from '../workspace.js';
import { runTool } from '../run-tool.js';
import { affectedBy, dependentsOf, projects, sorted } from './affected.js';

/** Configuration that every project depends on. */
const SHARED_FILES = ['package-lock.json', 'jest.preset.js', 'tools/checks/src/test-runner/task-hooks.ts'];

const SAMPLE = [
  'libs/kernel/src/changed.ts',
  'libs/pets/http/src/changed.ts',
  'apps/api/src/changed.ts',
  'tools/checks/contexts/src/changed.ts',
  'eslint.config.mjs',
  'docs/guides/errors.md',
  'README.md',
  'Dockerfile',
];

it.each(contextsOf(projects))('nx affected runs exactly the dependents of %s', async (context) => {
  const files = projects.filter((project) => contextOf(project) === context).map(({ root }) => `${root}/src/changed.ts`);
  expect(await affectedBy(files)).toEqual(dependentsOf(files));
});

// Promise (Teams): A change runs only the tests that it affects.
it.each(SAMPLE)('nx affected runs exactly the projects that depend on %s', async (file) => {
  expect(await affectedBy([file])).toEqual(dependentsOf([file]));
});

it.each(SHARED_FILES)('nx affected runs every project for %s', async (file) => {
  expect(await affectedBy([file])).toEqual(sorted(projects));
});

// A missing reference also fails the build. This finds superfluous ones, too.
it('the TypeScript references match the imports (npx nx sync)', async () => {
  expect(await runTool('nx', ['sync:check'])).toMatchObject({ exitCode: 0 });
});
