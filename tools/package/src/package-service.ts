import { cpSync, existsSync } from 'node:fs';
import { chmod, copyFile, cp, lstat, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { listFiles } from './list-files.js';
import { PackagingError } from './packaging-error.js';
import { productionPackages } from './production-packages.js';
import { requiredProjects } from './required-projects.js';
import { type LockFile, readJson, readWorkspace, type Workspace } from './workspace.js';

/** What the packaged package.json is called; only a folder with one is ever overwritten. */
const NAME = 'animal-store-service';
const ENTRIES = ['apps/api/dist/main.js', 'apps/cli/dist/main.js'];
/** What runs: one file of all that each start loads. */
const BUNDLES = ['apps/api/bundle', 'apps/cli/bundle'];
const COMMAND = "#!/usr/bin/env node\nimport '../apps/cli/bundle/main.js';\n";

/** Third-party files that nothing reads at run time; licences and notices stay. */
const UNUSED = /\.(?:map|md|markdown|[cm]?ts)$/;
const LEGAL = /^(?:licen[cs]e|notice|copying)\b/i;
/** Folders of a package that are for its own makers. */
const UNUSED_FOLDERS = /^(?:test|benchmarks?|\.github)$/;
/** What large packages bring for browsers and other loaders, besides the build that is loaded or served here. */
const UNUSED_BUILDS: Readonly<Record<string, RegExp>> = {
  'node_modules/class-validator': /^(?:bundles|esm\d+)$/,
  'node_modules/libphonenumber-js': /^bundle$/,
  'node_modules/rxjs': /^(?:src|dist[\\/](?:bundles|esm5?|types))$/,
  'node_modules/swagger-ui-dist': /^swagger-ui(?:-es-bundle.*|-standalone-preset)?\.js/,
  'node_modules/typeorm': /^browser$/,
};

export interface PackagedService {
  readonly projects: readonly string[];
  readonly packages: readonly string[];
  readonly files: number;
  readonly bytes: number;
}

/** Writes the built service with everything that it needs at run time, and nothing else, to the folder `out`. */
export async function packageService(workspaceFolder: string, out: string): Promise<PackagedService> {
  const workspace = await readWorkspace(workspaceFolder);
  const projects = await requiredProjects(workspace, ENTRIES);
  const packages = productionPackages(workspace).filter((path) => isBelow(path, ['node_modules', ...projects]));
  await makeEmpty(out);
  await writeManifests(workspace, projects, packages, out);
  for (const project of projects) await copyProject(join(workspaceFolder, project), join(out, project));
  for (const bundle of BUNDLES) await copyBundle(workspaceFolder, bundle, out);
  for (const path of packages) copyPackage(workspaceFolder, path, out);
  await linkProjects(workspace, projects, out);
  await copyFile(join(workspaceFolder, 'LICENSE'), join(out, 'LICENSE'));
  await mkdir(join(out, 'bin'));
  await writeFile(join(out, 'bin/animal-store'), COMMAND);
  await chmod(join(out, 'bin/animal-store'), 0o755);
  return { projects, packages, ...(await sizeOf(out)) };
}

function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path.startsWith(`${folder}/`));
}

async function makeEmpty(out: string): Promise<void> {
  const entries = await readdir(out).catch((): string[] => []);
  if (entries.length > 0) {
    const { name } = await readJson<{ name?: string }>(join(out, 'package.json')).catch(() => ({ name: undefined }));
    if (name !== NAME) throw new PackagingError(`${out} is neither empty nor an earlier package: choose another --out`);
    await rm(out, { recursive: true });
  }
  await mkdir(out, { recursive: true });
}

/** The compiled JavaScript whose source is still there, and the assets. */
async function copyProject(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await copyFile(join(from, 'package.json'), join(to, 'package.json'));
  if (existsSync(join(from, 'assets'))) await cp(join(from, 'assets'), join(to, 'assets'), { recursive: true });
  for (const file of await listFiles(join(from, 'dist'))) {
    const isTestSupport = /(?:^|[\\/])testing[\\/]|\.spec\.js$/.test(file);
    if (!file.endsWith('.js') || isTestSupport || !existsSync(join(from, 'src', file.replace(/\.js$/, '.ts')))) continue;
    await mkdir(join(to, 'dist', dirname(file)), { recursive: true });
    await copyFile(join(from, 'dist', file), join(to, 'dist', file));
  }
}

async function copyBundle(workspaceFolder: string, bundle: string, out: string): Promise<void> {
  const from = join(workspaceFolder, bundle);
  if (!existsSync(join(from, 'main.js'))) throw new PackagingError(`${bundle}/main.js is missing: bundle it first`);
  await cp(from, join(out, bundle), { recursive: true });
}

function copyPackage(workspaceFolder: string, path: string, out: string): void {
  const from = join(workspaceFolder, path);
  cpSync(from, join(out, path), {
    recursive: true,
    filter: (source) => {
      if (source === from) return true;
      const name = basename(source);
      const inPackage = relative(from, source);
      if (name === 'node_modules' || UNUSED_FOLDERS.test(inPackage) || UNUSED_BUILDS[path]?.test(inPackage)) return false;
      return LEGAL.test(name) || !UNUSED.test(name);
    },
  });
}

/** As npm links the projects of a workspace, so that they find each other by name. */
async function linkProjects({ lock }: Workspace, projects: readonly string[], out: string): Promise<void> {
  for (const path of linksTo(lock, projects)) {
    const { resolved = '' } = lock.packages[path] ?? {};
    await mkdir(join(out, dirname(path)), { recursive: true });
    await symlink(relative(dirname(path), resolved), join(out, path));
  }
}

function linksTo({ packages }: LockFile, projects: readonly string[]): string[] {
  return Object.entries(packages).flatMap(([path, { link, resolved = '' }]) => (link && projects.includes(resolved) ? [path] : []));
}

/** package.json and package-lock.json of what is there, for `npm ls`, `npm audit` and scanners. */
async function writeManifests(
  { manifest, lock }: Workspace,
  projects: readonly string[],
  packages: readonly string[],
  out: string,
): Promise<void> {
  const { version, description, license, dependencies, overrides } = manifest;
  const root = { name: NAME, version, license, workspaces: projects, dependencies };
  const kept = new Set([...projects, ...linksTo(lock, projects), ...packages]);
  const entries: [string, object][] = Object.entries(lock.packages).filter(([path]) => kept.has(path));
  await writeJson(join(out, 'package.json'), { ...root, private: true, description, type: 'module', overrides });
  await writeJson(join(out, 'package-lock.json'), {
    name: NAME,
    version,
    lockfileVersion: lock.lockfileVersion,
    requires: true,
    packages: Object.fromEntries([['', root], ...entries]),
  });
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
}

async function sizeOf(folder: string): Promise<{ files: number; bytes: number }> {
  const files = await listFiles(folder);
  const sizes = await Promise.all(files.map(async (file) => (await lstat(join(folder, file))).size));
  return { files: files.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}
