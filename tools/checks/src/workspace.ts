import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

interface ProjectJson {
  readonly name: string;
  readonly tags?: readonly string[];
}

interface PackageJson {
  readonly name: string;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly nx: ProjectJson;
}

export interface Project {
  readonly name: string;
  /** Undefined if it is a part of the package in its parent folder. */
  readonly packageName?: string;
  /** Folder, relative to the workspace. */
  readonly root: string;
  readonly tags: readonly string[];
  readonly exports: Readonly<Record<string, unknown>>;
}

/** Returns every file of the workspace that is not ignored by Git. */
export function workspaceFiles(): readonly string[] {
  return listFiles('--deduplicate').filter((file) => existsSync(join(ROOT, file)));
}

/** Returns a line of `git ls-files` for each file that is not ignored. */
export function listFiles(...options: readonly string[]): readonly string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', ...options];
  const listed = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return listed.split('\0').filter((line) => line !== '');
}

export function readText(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** Returns the projects of Nx: each package, and the folders of a package that have a project.json. */
export function readProjects(): readonly Project[] {
  return workspaceFiles().flatMap((file) => {
    if (file.endsWith('/project.json')) {
      const { name, tags = [] } = JSON.parse(readText(file)) as ProjectJson;
      return { name, root: dirname(file), tags, exports: {} };
    }
    if (!file.endsWith('/package.json')) return [];
    const { name: packageName, exports = {}, nx } = JSON.parse(readText(file)) as PackageJson;
    return { name: nx.name, packageName, root: dirname(file), tags: nx.tags ?? [], exports };
  });
}
