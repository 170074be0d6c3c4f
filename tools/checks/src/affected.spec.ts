import { beforeAll, describe, expect, it } from '@jest/globals';
import { createProjectGraphAsync, type ProjectGraph, readCachedProjectGraph } from '@nx/devkit';
// What `nx affected` does with the files that a change touches; Nx has no public function for it.
import { filterAffected } from 'nx/src/project-graph/affected/affected-project-graph.js';
import { WholeFileChange } from 'nx/src/project-graph/file-utils.js';
import { affectedBy, affectedByFile, contextOf, FILES, PROJECTS_WITH_A_ROW } from './affected-table.js';
import { readProjects } from './workspace.js';

const projects = readProjects();
const contexts = [...new Set(projects.flatMap((project) => contextOf(project) ?? []))];

let graph: ProjectGraph;
beforeAll(async () => {
  graph = process.env['NX_TASK_TARGET_PROJECT'] ? readCachedProjectGraph() : await createProjectGraphAsync();
}, 60_000);

async function affected(file: string): Promise<string[]> {
  const { nodes } = await filterAffected(graph, [{ file, getChanges: () => [new WholeFileChange()] }]);
  return Object.keys(nodes).sort();
}

describe('a change affects exactly what the table says', () => {
  it.each(projects.map((project) => [project.name, project] as const))('in %s', async (_, project) => {
    expect(await affected(`${project.root}/src/changed.ts`)).toEqual(affectedBy(project, projects));
  });

  it.each(Object.entries(FILES))('in %s', async (file, row) => {
    expect(await affected(file)).toEqual(affectedByFile(row, projects));
  });
});

it.each(contexts)('a change in %s runs the tests of no other context', async (context) => {
  const others = projects.filter((project) => ![undefined, context].includes(contextOf(project))).map(({ name }) => name);
  for (const { root } of projects.filter((project) => contextOf(project) === context)) {
    expect((await affected(`${root}/src/changed.ts`)).filter((name) => others.includes(name))).toEqual([]);
  }
});

it('the table names no project that is not there', () => {
  const names = projects.map(({ name }) => name);
  expect(PROJECTS_WITH_A_ROW.filter((name) => !names.includes(name))).toEqual([]);
});

describe('a project to come', () => {
  const added = (root: string, ...tags: string[]) => ({
    name: root.split('/').slice(1).join('-'),
    packageName: '',
    root,
    tags,
    exports: {},
  });

  it('has the rows of its layer when it is a context', () => {
    const planted = ['domain', 'application', 'http'].map((layer) => added(`libs/planted/${layer}`, `layer:${layer}`, 'scope:planted'));
    const [domain] = planted.map((project) => affectedBy(project, [...projects, ...planted]));
    expect(domain?.filter((name) => name.startsWith('planted-'))).toEqual(['planted-application', 'planted-domain', 'planted-http']);
    expect(domain).toEqual(expect.arrayContaining(['api', 'api-e2e', 'checks']));
    expect(domain).not.toContain('pets-domain');
  });

  it('must get a row when it is another library, an app or a tool', () => {
    const mailer = added('libs/mailer', 'layer:platform', 'scope:platform');
    expect(() => affectedBy(mailer, [...projects, mailer])).toThrow('mailer has no row: say in');
  });
});
