import { globSync } from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import { runTool } from '../run-tool.js';
import { type Project, readProjects, readText, ROOT } from '../workspace.js';

export const projects = readProjects();
export const sorted = (selected: readonly Project[]) => selected.map(({ name }) => name).sort();

/** Returns the names of the projects that `nx affected` selects if these files change. Takes a second. */
export async function affectedBy(files: readonly string[]): Promise<string[]> {
  const { output } = await runTool('nx', ['show', 'projects', '--affected', '--json', `--files=${files.join()}`]);
  return (JSON.parse(output) as string[]).sort();
}

/** Returns the names of the projects that read one of these files, and of all projects that depend on those. */
export function dependentsOf(files: readonly string[]): string[] {
  const found = new Set(projects.filter((project) => files.some((file) => reads(project, file))));
  // A loop over a set also visits elements that are added during the loop.
  for (const dependency of found) {
    for (const project of projects) if (dependsOn(project, dependency)) found.add(project);
  }
  return sorted([...found]);
}

const reads = (project: Project, file: string) => ownerOf(file) === project || project.inputs.some((pattern) => matchesGlob(file, pattern));

/** A package may contain other projects. */
const ownerOf = (file: string) =>
  projects.filter(({ root }) => file.startsWith(`${root}/`)).sort((one, other) => other.root.length - one.root.length)[0];

/** Returns whether a project declares a dependency: by a TypeScript reference, which each import requires, or in its package.json. */
function dependsOn({ root, implicitDependencies }: Project, dependency: Project): boolean {
  const references = globSync('tsconfig*.json', { cwd: join(ROOT, root) }).flatMap((name) => {
    const config = JSON.parse(readText(`${root}/${name}`)) as { references?: { path: string }[] };
    return (config.references ?? []).map(({ path }) => join(root, path.endsWith('.json') ? dirname(path) : path));
  });
  return references.includes(dependency.root) || implicitDependencies.includes(dependency.name);
}
