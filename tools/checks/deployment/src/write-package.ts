/** `npx nx package api`: writes the folder to deploy to `dist/package`, or to the folder in `--out`. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkPackages, collectLicences, createSbom, type LockedPackages, type Manifest } from './third-party.js';

const WORKSPACE = join(import.meta.dirname, '../../../..');
/** The name in the packaged package.json. Only a folder with this name in its package.json is overwritten. */
const NAME = 'animal-store-service';
const APPS = ['apps/api', 'apps/cli'];
const ASSETS = 'apps/api/assets';
/** The files that `/docs` serves. */
const SWAGGER_UI = 'node_modules/swagger-ui-dist';
const SWAGGER_UI_FILES = ['package.json', 'swagger-ui.css', 'swagger-ui-bundle.js'];
const COMMAND = "#!/usr/bin/env node\nimport '../apps/cli/bundle/main.js';\n";

const { values } = parseArgs({ options: { out: { type: 'string', default: join(WORKSPACE, 'dist/package') } } });
try {
  packageService(resolve(values.out));
  console.log(resolve(values.out));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/**
 * Writes the bundles, Swagger UI, the licences and the SBOM to the folder `out`.
 * @throws if a bundled package is not locked for production or differs in node_modules, or if `out` is neither empty nor an earlier package
 */
function packageService(out: string): void {
  assertReplaceable(out);
  const { description, ...manifest } = readManifest();
  const locked = lockedPackages(join(WORKSPACE, 'package-lock.json'));
  const installed = lockedPackages(join(WORKSPACE, 'node_modules/.package-lock.json'));
  const { imports } = readJson<{ imports: Readonly<Record<string, string>> }>(join(WORKSPACE, 'apps/api/package.json'));
  const bundled = APPS.flatMap((app) => readJson<string[]>(join(WORKSPACE, app, 'bundle/packages.json')));
  const packages = [...new Set([...bundled, SWAGGER_UI])].sort();

  checkPackages(locked, installed, packages);
  const sbom = createSbom(manifest, locked, packages);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const app of APPS) {
    const filter = (path: string): boolean => basename(path) !== 'packages.json';
    cpSync(join(WORKSPACE, app, 'bundle'), join(out, app, 'bundle'), { recursive: true, filter });
  }
  cpSync(join(WORKSPACE, ASSETS), join(out, ASSETS), { recursive: true });
  for (const file of SWAGGER_UI_FILES) cpSync(join(WORKSPACE, SWAGGER_UI, file), join(out, SWAGGER_UI, file));
  cpSync(join(WORKSPACE, 'LICENSE'), join(out, 'LICENSE'));
  writeFileSync(join(out, 'THIRD-PARTY-LICENSES.txt'), collectLicences(WORKSPACE, locked, packages));
  writeJson(join(out, 'sbom.cdx.json'), sbom);
  const { version, license } = manifest;
  const imported = Object.fromEntries(Object.entries(imports).map(([name, target]) => [name, `./apps/api/${target.slice('./'.length)}`]));
  const root = { name: NAME, version, private: true, description, license, type: 'module', imports: imported };
  writeJson(join(out, 'package.json'), root);
  mkdirSync(join(out, 'bin'));
  writeFileSync(join(out, 'bin/animal-store'), COMMAND, { mode: 0o755 });
}

function assertReplaceable(out: string): void {
  if (!existsSync(out) || readdirSync(out).length === 0) return;
  const manifest = join(out, 'package.json');
  if (!existsSync(manifest) || readJson<{ name?: string }>(manifest).name !== NAME) {
    throw new Error(`${out} is neither empty nor an earlier package. Empty it or choose another --out`);
  }
}

/** Reads the root package.json without development dependencies and projects. The version is that of apps/api. */
function readManifest(): Manifest & { description: string } {
  const root = readJson<Manifest & { description: string }>(join(WORKSPACE, 'package.json'));
  const { name, license, description, dependencies, overrides } = root;
  const { version } = readJson<{ version: string }>(join(WORKSPACE, 'apps/api/package.json'));
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
