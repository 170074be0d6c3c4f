import { expect, it } from '@jest/globals';
import { contextOf, contextsOf, workspaceFiles } from '../workspace.js';
import { runTool } from '../run-tool.js';
import { affectedBy, dependentsOf, projects, sorted } from './affected.js';

const SAMPLE = [
  'libs/kernel/src/changed.ts',
  'libs/pets/http/src/changed.ts',
  'apps/api/src/changed.ts',
  'eslint.config.mjs',
  'docs/guides/errors.md',
  'README.md',
  'Dockerfile',
];

it.each(contextsOf(projects))('nx affected runs exactly the dependents of %s', async (context) => {
  const files = projects.filter((project) => contextOf(project) === context).map(({ root }) => `${root}/src/changed.ts`);
  expect(await affectedBy(files)).toEqual(dependentsOf(files));
});

it.each(SAMPLE)('nx affected runs exactly the projects that depend on %s', async (file) => {
  expect(await affectedBy([file])).toEqual(dependentsOf([file]));
});

it('nx affected runs every project for package-lock.json', async () => {
  expect(await affectedBy(['package-lock.json'])).toEqual(sorted(projects));
});

it.each(['jest.preset.js', 'tools/checks/src/test-runner/task-hooks.ts'])(
  'nx affected runs every project with specs for %s',
  async (file) => {
    const specs = workspaceFiles().filter((path) => /\.(?:spec|verify)\.ts$/.test(path));
    const withSpecs = projects.filter(({ root }) => specs.some((path) => path.startsWith(`${root}/src/`)));
    expect(await affectedBy([file])).toEqual(expect.arrayContaining(sorted(withSpecs)));
  },
);

// A missing reference also fails the build. This finds superfluous ones, too.
it('the TypeScript references match the imports (npx nx sync)', async () => {
  expect(await runTool('nx', ['sync:check'])).toMatchObject({ exitCode: 0 });
});
