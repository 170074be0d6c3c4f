import { contextOf, type Project, readProjects, readText, workspaceFiles } from '@animal-store/checks/workspace';
import { describe, expect, it } from '@jest/globals';

const projects = readProjects();
const files = workspaceFiles();

const folderOf = ({ root }: Project): string => root.split('/').slice(0, 2).join('/');

/** A context has one README for all its libraries, a package one for all its projects. */
describe.each([...Map.groupBy(projects, folderOf)])('the README of %s', (folder, members) => {
  const [first] = members as [Project, ...Project[]];
  const isContext = members.some((project) => contextOf(project) !== undefined);
  // A nested project is named after its package.
  const name = folder.split('/').slice(1).join('-');
  const { isPublished } = first;
  const path = `${folder}/README.md`;

  it('has the name', () => {
    expect(files).toContain(path);
    const lines = readText(path)
      .split('\n')
      .filter((line) => line.trim() !== '');
    expect(lines[0]).toBe(`# ${isPublished ? first.packageName : name}`);
    expect(lines.length).toBeGreaterThanOrEqual(3);
  });

  if (isContext)
    it('lists its libraries', () => {
      const listed = [...readText(path).matchAll(/^- `([\w-]+)`: /gm)].map(([, library]) => `${folder}/${library}`);
      expect(listed.sort()).toEqual(members.map(({ root }) => root).sort());
    });
});

it('libraries of contexts have no README', () => {
  expect(files.filter((file) => /^(?:libs|examples)\/[^/]+\/[^/]+\/README\.md$/.test(file))).toEqual([]);
});

it('the list of contexts in docs/architecture.md ends where the generator of contexts adds one', () => {
  expect(readText('docs/architecture.md')).toMatch(/^- \[`libs\/[a-z-]+`\].*\n\n\*\*Platform\*\*$/m);
});
