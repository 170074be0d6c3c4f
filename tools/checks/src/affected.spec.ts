import { describe, expect, it } from '@jest/globals';
import { affectedBy, dependentsOf, projects, sorted } from './testing/affected.js';
import { contextOf, contextsOf, tagOf } from './workspace.js';

/** Projects that depend on a file without importing it: only their package.json or project.json says so. `checks-documents` reads every file. */
const WITHOUT_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'apps/api/src/changed.ts': ['api-e2e', 'package'],
  'apps/cli/src/changed.ts': ['api-e2e', 'package'],
  'libs/pets/domain/src/changed.ts': ['generators'],
  'docs/guides/errors.md': ['api', 'api-e2e', 'checks-contexts', 'generators', 'start'],
  'docs/operations.md': ['api-e2e', 'package'],
  'docs/openapi.json': ['api-e2e', 'checks', 'checks-contexts'],
  Dockerfile: ['package'],
};

it.each(Object.entries(WITHOUT_IMPORT))('the dependents of %s are declared', (file, names) => {
  expect(dependentsOf([file])).toEqual(expect.arrayContaining(['checks-documents', ...names]));
});

describe('nx affected', () => {
  it('runs no other context for a change in every library of a context but its contract', async () => {
    const [context = ''] = contextsOf(projects);
    const libraries = projects.filter((project) => contextOf(project) === context && tagOf(project, 'layer') !== 'contract');
    const files = libraries.map(({ root }) => `${root}/src/changed.ts`);
    const affected = await affectedBy(files);
    const others = projects.filter((project) => ![undefined, context].includes(contextOf(project)));
    expect(sorted(others).filter((name) => affected.includes(name))).toEqual([]);
    expect(affected).toEqual(dependentsOf(files));
  });

  it('runs only the checks of documents for README.md and the changelog', () => {
    expect(dependentsOf(['README.md', 'CHANGELOG.md'])).toEqual(['checks-documents']);
  });
});
