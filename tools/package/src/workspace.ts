import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PackagingError } from './packaging-error.js';

/** The parts of the root package.json that the deployed service needs. */
export interface RootManifest {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly overrides: Readonly<Record<string, string>>;
}

/** An entry of package-lock.json; https://docs.npmjs.com/cli/configuring-npm/package-lock-json. */
export interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  /** A workspace project, in the folder `resolved`. */
  readonly link?: boolean;
  readonly resolved?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

export interface LockFile {
  readonly lockfileVersion: number;
  /** By path, such as `node_modules/pg` or `apps/api`. */
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export interface Workspace {
  readonly folder: string;
  readonly manifest: RootManifest;
  readonly lock: LockFile;
  /** What npm has put into node_modules. */
  readonly installed: LockFile;
}

export async function readWorkspace(folder: string): Promise<Workspace> {
  const [manifest, lock, installed] = await Promise.all([
    readJson<RootManifest>(join(folder, 'package.json')),
    readJson<LockFile>(join(folder, 'package-lock.json')),
    readJson<LockFile>(join(folder, 'node_modules/.package-lock.json')).catch(() => {
      throw new PackagingError('node_modules is missing: run npm ci first');
    }),
  ]);
  return { folder, manifest, lock, installed };
}

/** The folder of a project of the workspace by its package name, relative to the workspace. */
export function projectFolder({ lock }: Workspace, packageName: string): string | undefined {
  const entry = lock.packages[`node_modules/${packageName}`];
  return entry?.link ? entry.resolved : undefined;
}

export async function readJson<T>(file: string): Promise<T> {
  return JSON.parse(await readFile(file, 'utf8')) as T;
}
