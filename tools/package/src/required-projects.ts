import { readFile } from 'node:fs/promises';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { importsOf, type ModuleImport } from './module-imports.js';
import { PackagingError } from './packaging-error.js';
import { projectFolder, readJson, type Workspace } from './workspace.js';

/** The layers that run in production. A project of another one is left out where its import is dynamic. */
const DEPLOYED_LAYERS = ['kernel', 'contract', 'platform', 'domain', 'application', 'infrastructure', 'http', 'app'];

/** The folders of the projects that the built entries really import, themselves included. */
export async function requiredProjects(workspace: Workspace, entries: readonly string[]): Promise<string[]> {
  const projects = new Set<string>();
  const visited = new Set<string>();
  const visit = async (file: string, project: string): Promise<void> => {
    if (visited.has(file)) return;
    visited.add(file);
    projects.add(project);
    for (const found of importsOf(await readBuilt(workspace, file))) {
      const target = await resolve(workspace, file, project, found);
      if (target) await visit(target.file, target.project);
    }
  };
  for (const entry of entries) await visit(join(workspace.folder, entry), entry.split('/').slice(0, 2).join('/'));
  return [...projects].sort();
}

async function readBuilt({ folder }: Workspace, file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => {
    throw new PackagingError(`${relative(folder, file)} is missing: build it first`);
  });
}

async function resolve(
  workspace: Workspace,
  file: string,
  project: string,
  { specifier, dynamic }: ModuleImport,
): Promise<{ file: string; project: string } | undefined> {
  if (isBuiltin(specifier)) return undefined;
  if (specifier.startsWith('.')) return { file: join(dirname(file), specifier), project };
  const [first = '', second = ''] = specifier.split('/');
  const packageName = first.startsWith('@') ? `${first}/${second}` : first;
  const importer = relative(workspace.folder, file);
  const target = projectFolder(workspace, packageName);
  if (target === undefined) {
    if (packageName in workspace.manifest.dependencies) return undefined;
    throw new PackagingError(`${importer} imports ${packageName}, which is not among the dependencies of package.json`);
  }
  if (await isDeployed(workspace, target)) return { file: createRequire(file).resolve(specifier), project: target };
  if (dynamic) return undefined;
  throw new PackagingError(`${importer} imports ${packageName}, which is not deployed: import it dynamically or not at all`);
}

async function isDeployed({ folder }: Workspace, project: string): Promise<boolean> {
  const { nx } = await readJson<{ nx: { tags: readonly string[] } }>(join(folder, project, 'package.json'));
  return DEPLOYED_LAYERS.some((layer) => nx.tags.includes(`layer:${layer}`));
}
