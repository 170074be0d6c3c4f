import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { checkPackages, collectLicences, createSbom, type LockedPackages, type Manifest } from './third-party.js';

/** The name in the packaged package.json. Only a folder with this name in its package.json is overwritten. */
const NAME = 'animal-store-service';
const APPS = ['apps/api', 'apps/cli'];
const ASSETS = 'apps/api/assets/docs';
const GUIDES = 'apps/api/guides';
/** Packages that write-guides.ts copies to the guides. */
const IN_GUIDES = ['node_modules/minisearch'];
const COMMAND = "#!/usr/bin/env node\nimport '../apps/cli/bundle/main.js';\n";

/**
 * Writes the bundles, the guides, the assets of their pages, the licences and the SBOM to the folder `out`.
 * @throws if a bundled package is not locked for production or differs in node_modules, or if `out` is neither empty nor an earlier package
 */
export function packageService(workspace: string, out: string): void {
  assertReplaceable(out);
  const { description, ...manifest } = readManifest(workspace);
  const locked = lockedPackages(join(workspace, 'package-lock.json'));
  const installed = lockedPackages(join(workspace, 'node_modules/.package-lock.json'));
  const { imports } = readJson<{ imports: Readonly<Record<string, string>> }>(join(workspace, 'apps/api/package.json'));
  // Files that the reference page serves from packages, such as `swagger-ui-dist/swagger-ui.css`.
  const servedFiles = Object.values(imports).filter((target) => !isOwn(target));
  const bundled = APPS.flatMap((app) => readJson<string[]>(join(workspace, app, 'bundle/packages.json')));
  const packages = [...new Set([...bundled, ...IN_GUIDES, ...servedFiles.map((file) => `node_modules/${dirname(file)}`)])].sort();

  checkPackages(locked, installed, packages);
  const sbom = createSbom(manifest, locked, packages);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const app of APPS) {
    const filter = (path: string): boolean => basename(path) !== 'packages.json';
    cpSync(join(workspace, app, 'bundle'), join(out, app, 'bundle'), { recursive: true, filter });
  }
  cpSync(join(workspace, ASSETS), join(out, ASSETS), { recursive: true });
  cpSync(join(workspace, GUIDES), join(out, GUIDES), { recursive: true });
  for (const file of servedFiles) cpSync(join(workspace, 'node_modules', file), join(out, ASSETS, basename(file)));
  cpSync(join(workspace, 'LICENSE'), join(out, 'LICENSE'));
  writeFileSync(join(out, 'THIRD-PARTY-LICENSES.txt'), collectLicences(workspace, locked, packages));
  writeJson(join(out, 'sbom.cdx.json'), sbom);
  const { version, license } = manifest;
  const own = Object.entries(imports).filter(([, target]) => isOwn(target));
  const imported = Object.fromEntries(own.map(([name, target]) => [name, `./apps/api/${target.slice('./'.length)}`]));
  const root = { name: NAME, version, private: true, description, license, type: 'module', imports: imported };
  writeJson(join(out, 'package.json'), root);
  mkdirSync(join(out, 'bin'));
  writeFileSync(join(out, 'bin/animal-store'), COMMAND, { mode: 0o755 });
}

/** Whether a target of the API's imports is a file of the API and not of a package. */
function isOwn(target: string): boolean {
  return target.startsWith('./');
}

function assertReplaceable(out: string): void {
  if (!existsSync(out) || readdirSync(out).length === 0) return;
  const manifest = join(out, 'package.json');
  if (!existsSync(manifest) || readJson<{ name?: string }>(manifest).name !== NAME) {
    throw new Error(`${out} is neither empty nor an earlier package. Empty it or choose another --out`);
  }
}

/** Reads the root package.json without development dependencies and projects. The version is that of apps/api. */
function readManifest(workspace: string): Manifest & { description: string } {
  const root = readJson<Manifest & { description: string }>(join(workspace, 'package.json'));
  const { name, license, description, dependencies, overrides } = root;
  const { version } = readJson<{ version: string }>(join(workspace, 'apps/api/package.json'));
  return { name, version, license, description, dependencies, overrides };
}

function lockedPackages(file: string): LockedPackages {
  return readJson<{ packages: LockedPackages }>(file).packages;
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
