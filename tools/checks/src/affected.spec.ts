import { globSync } from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { runTool } from './run-tool.js';
import { contextOf, contextsOf, type Project, readProjects, readText, ROOT } from './workspace.js';

/** Configuration that every project depends on. */
const SHARED_FILES = ['package-lock.json', 'jest.preset.js'];

/** Projects that depend on a file without importing it: only their package.json says so. `checks` reads every file. */
const WITHOUT_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'apps/api/src/changed.ts': ['api-e2e', 'chaos', 'package'],
  'apps/cli/src/changed.ts': ['api-e2e', 'package'],
  'libs/pets/domain/src/changed.ts': ['generators'],
  'docs/adding-a-context.md': ['generators'],
  'docs/adr/README.md': [],
  'docs/guides/errors.md': ['api', 'api-e2e', 'generators', 'start'],
  'docs/openapi.json': ['api', 'api-e2e', 'chaos'],
  'README.md': ['generators'],
  Dockerfile: ['package'],
};

/** Files for which the dependents are compared with the projects that Nx selects. Each takes a second. */
const SAMPLE = [
  'libs/kernel/src/changed.ts',
  'libs/pets/http/src/changed.ts',
  'apps/api/src/changed.ts',
  'docs/adr/README.md',
  'Dockerfile',
];

const projects = readProjects();
const sorted = (selected: readonly Project[]) => selected.map(({ name }) => name).sort();

/** Projects without a package.json: ESLint runs once for each folder. */
const LINTED_FOLDERS = 'apps,libs,tools';

/** Returns the names of the projects that `nx affected` selects if these files change. */
async function affectedBy(files: readonly string[], filter = `--exclude=${LINTED_FOLDERS}`): Promise<string[]> {
  const { output } = await runTool('nx', ['show', 'projects', '--affected', '--json', filter, `--files=${files.join()}`]);
  return (JSON.parse(output) as string[]).sort();
}

/** Returns the names of the projects that read one of these files, and of all projects that depend on those. */
function dependentsOf(files: readonly string[]): string[] {
  const found = new Set(projects.filter((project) => files.some((file) => reads(project, file))));
  // A loop over a set also visits elements that are added during the loop.
  for (const dependency of found) {
    for (const project of projects) if (dependsOn(project, dependency)) found.add(project);
  }
  return sorted([...found]);
}

const reads = ({ root, inputs }: Project, file: string) => [`${root}/**`, ...inputs].some((pattern) => matchesGlob(file, pattern));

/** Returns whether a project declares a dependency: by a TypeScript reference, which each import requires, or in its package.json. */
function dependsOn({ root, implicitDependencies }: Project, dependency: Project): boolean {
  const references = globSync('tsconfig*.json', { cwd: join(ROOT, root) }).flatMap((name) => {
    const config = JSON.parse(readText(`${root}/${name}`)) as { references?: { path: string }[] };
    return (config.references ?? []).map(({ path }) => join(root, path.endsWith('.json') ? dirname(path) : path));
  });
  return references.includes(dependency.root) || implicitDependencies.includes(dependency.name);
}

describe('nx affected', () => {
  it.each(contextsOf(projects))('runs no other context for a change in every library of %s', async (context) => {
    const files = projects.filter((project) => contextOf(project) === context).map(({ root }) => `${root}/src/changed.ts`);
    const affected = await affectedBy(files);
    const others = projects.filter((project) => ![undefined, context].includes(contextOf(project)));
    expect(sorted(others).filter((name) => affected.includes(name))).toEqual([]);
    expect(affected).toEqual(dependentsOf(files));
  });

  it.each(SAMPLE)('runs exactly the projects that depend on %s', async (file) => {
    expect(await affectedBy([file])).toEqual(dependentsOf([file]));
  });

  it.each([
    ['tools/bench/src/changed.ts', ['tools']],
    ['libs/kernel/src/changed.ts', ['apps', 'libs', 'tools']],
    ['eslint.config.mjs', ['apps', 'libs', 'tools']],
    ['docs/adr/README.md', []],
  ])('lints the folders whose types depend on %s', async (file, folders) => {
    expect(await affectedBy([file], `--projects=${LINTED_FOLDERS}`)).toEqual(folders);
  });

  it.each(SHARED_FILES)('runs every project for %s', async (file) => {
    expect(await affectedBy([file])).toEqual(sorted(projects));
  });
});

it.each(Object.entries(WITHOUT_IMPORT))('the dependents of %s are declared', (file, names) => {
  expect(dependentsOf([file])).toEqual(expect.arrayContaining(['checks', ...names]));
});
