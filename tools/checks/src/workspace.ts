import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

interface PackageJson {
  readonly name: string;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly nx?: { readonly name?: string; readonly tags?: readonly string[] };
}

export interface Project {
  /** As Nx calls it. */
  readonly name: string;
  readonly packageName: string;
  /** Relative to the workspace. */
  readonly root: string;
  readonly tags: readonly string[];
  readonly exports: Readonly<Record<string, unknown>>;
}

/** Every file of the workspace that is committed or could be. */
export function workspaceFiles(): readonly string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const deleted = execFileSync('git', ['ls-files', '-z', '--deleted'], { cwd: ROOT, encoding: 'utf8' });
  const gone = new Set(deleted.split('\0'));
  return listed.split('\0').filter((file) => file !== '' && !gone.has(file));
}

export function readText(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

export function readProjects(): readonly Project[] {
  return workspaceFiles()
    .filter((file) => file.endsWith('/package.json'))
    .map((file) => {
      const json = JSON.parse(readText(file)) as PackageJson;
      return {
        name: json.nx?.name ?? json.name,
        packageName: json.name,
        root: dirname(file),
        tags: json.nx?.tags ?? [],
        exports: json.exports ?? {},
      };
    });
}

/** The one tag of a kind, without the kind; undefined when there is none or more than one. */
export function tagOf({ tags }: Project, kind: 'layer' | 'scope'): string | undefined {
  const names = tags.filter((tag) => tag.startsWith(`${kind}:`)).map((tag) => tag.slice(kind.length + 1));
  return names.length === 1 ? names[0] : undefined;
}
