import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const WORKSPACE_ROOT = '{workspaceRoot}/';

interface ProjectJson {
  readonly name: string;
  readonly tags?: readonly string[];
  readonly implicitDependencies?: readonly string[];
  readonly targets?: Readonly<Record<string, { readonly inputs?: readonly unknown[] }>>;
}

interface PackageJson {
  readonly name: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly nx: ProjectJson;
}

export interface Project {
  /** The name in Nx. */
  readonly name: string;
  /** Undefined if it is a part of the package in its parent folder. */
  readonly packageName?: string;
  /** Whether it is published on npm. */
  readonly isPublished: boolean;
  /** Folder, relative to the workspace. */
  readonly root: string;
  readonly tags: readonly string[];
  readonly implicitDependencies: readonly string[];
  /** Patterns of files outside the project that its targets read. */
  readonly inputs: readonly string[];
  readonly exports: Readonly<Record<string, unknown>>;
}

/** Returns every file of the workspace that is not ignored by Git. */
export function workspaceFiles(root = ROOT): readonly string[] {
  return listFiles(root, '--deduplicate').filter((file) => existsSync(join(root, file)));
}

/** Returns a line of `git ls-files` for each file that is not ignored. A downloaded archive has no repository: an empty one lists its files. */
export function listFiles(root: string, ...options: readonly string[]): readonly string[] {
  const emptyRepository = existsSync(join(root, '.git')) ? undefined : mkdtempSync(join(tmpdir(), 'animal-store-git-'));
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  try {
    if (emptyRepository) git('init', '--quiet', '--bare', emptyRepository);
    const repository = emptyRepository ? [`--git-dir=${emptyRepository}`, `--work-tree=${root}`] : [];
    const listed = git(...repository, 'ls-files', '-z', '--cached', '--others', '--exclude-standard', ...options).split('\0');
    return listed.filter((line) => line !== '');
  } finally {
    if (emptyRepository) rmSync(emptyRepository, { recursive: true });
  }
}

export function readText(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** Returns the projects of Nx: each package, and the folders of a package that have a project.json. */
export function readProjects(): readonly Project[] {
  return workspaceFiles().flatMap((file) => {
    if (file.endsWith('/project.json'))
      return { ...projectOf(file, JSON.parse(readText(file)) as ProjectJson), isPublished: false, exports: {} };
    if (!file.endsWith('/package.json')) return [];
    const { name, private: isPrivate, exports = {}, nx } = JSON.parse(readText(file)) as PackageJson;
    return { ...projectOf(file, nx), packageName: name, isPublished: isPrivate !== true, exports };
  });
}

function projectOf(file: string, { name, tags = [], implicitDependencies = [], targets = {} }: ProjectJson) {
  const inputs = Object.values(targets).flatMap((target) => (target.inputs ?? []).flatMap(filesOfWorkspace));
  return { name, root: dirname(file), tags, implicitDependencies, inputs };
}

const { namedInputs } = JSON.parse(readText('nx.json')) as { namedInputs: Readonly<Record<string, readonly unknown[]>> };

function filesOfWorkspace(input: unknown): string[] {
  if (typeof input !== 'string') return [];
  return input.startsWith(WORKSPACE_ROOT) ? [input.slice(WORKSPACE_ROOT.length)] : (namedInputs[input] ?? []).flatMap(filesOfWorkspace);
}

/** Returns the tag of a kind without its prefix, or undefined if there is none or more than one. */
export function tagOf({ tags }: Project, kind: 'layer' | 'scope'): string | undefined {
  const names = tags.filter((tag) => tag.startsWith(`${kind}:`)).map((tag) => tag.slice(kind.length + 1));
  return names.length === 1 ? names[0] : undefined;
}

const SHARED_SCOPES = ['platform', 'apps', 'tools'];

/** Returns the context of a project, or undefined for a shared project. */
export function contextOf(project: Project): string | undefined {
  const scope = tagOf(project, 'scope');
  return scope === undefined || SHARED_SCOPES.includes(scope) ? undefined : scope;
}
