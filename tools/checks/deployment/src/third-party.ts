import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The parts of the root package.json that affect the deployed folder. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly overrides: Readonly<Record<string, string>>;
}

/** package-lock.json by path, such as `node_modules/pg`; https://docs.npmjs.com/cli/configuring-npm/package-lock-json. */
export type LockedPackages = Readonly<Record<string, LockedPackage>>;

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

/** A CycloneDX document; https://cyclonedx.org/docs/1.5/json/. */
interface Sbom {
  serialNumber?: string;
  readonly metadata: { timestamp?: string };
  components: { readonly 'bom-ref': string }[];
  dependencies: { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** @throws if one of `packages` is not a production dependency, or if node_modules does not contain its locked content */
export function checkPackages(locked: LockedPackages, installed: LockedPackages, packages: readonly string[]): void {
  const unexpected = packages.filter((path) => !isProduction(locked[path]));
  if (unexpected.length > 0) throw new Error(`Bundled, but not a production dependency in package-lock.json: ${unexpected.join(', ')}`);
  const differing = packages.filter((path) => locked[path]?.integrity !== installed[path]?.integrity);
  if (differing.length > 0) throw new Error(`node_modules differs from package-lock.json. Run npm ci: ${differing.join(', ')}`);
}

function isProduction({ integrity, dev, optional, devOptional }: LockedPackage = {}): boolean {
  return integrity !== undefined && !dev && !optional && !devOptional;
}

/**
 * Returns the SBOM of `packages`, created by `npm sbom`.
 *
 * `npm sbom --omit dev` also leaves out production packages that a development dependency needs. So npm reads a lock file of the
 * production packages only. Packages that are in no bundle, and values that differ each time, are removed from the result.
 */
export function createSbom(root: Manifest, locked: LockedPackages, packages: readonly string[]): Sbom {
  const sbom = npmSbom(root, Object.fromEntries(Object.entries(locked).filter(([, entry]) => isProduction(entry))));
  const refs = new Set([...packages.map((path) => refOf(path, locked)), `${root.name}@${root.version}`]);
  sbom.components = sbom.components.filter((component) => refs.has(component['bom-ref']));
  sbom.dependencies = sbom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((found) => refs.has(found)) }));
  delete sbom.serialNumber;
  delete sbom.metadata.timestamp;
  return sbom;
}

function npmSbom(root: Manifest, packages: LockedPackages): Sbom {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-sbom-'));
  // npm names the document after the folder.
  const cwd = join(folder, root.name);
  try {
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'package.json'), JSON.stringify(root));
    writeFileSync(join(cwd, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages: { '': root, ...packages } }));
    const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
    const output = execFileSync('npm', args, { cwd, shell: process.platform === 'win32', stdio: ['ignore', 'pipe', 'inherit'] });
    return JSON.parse(output.toString()) as Sbom;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the licence texts and notices of `packages`, because the bundles contain no comments. */
export function collectLicences(workspace: string, locked: LockedPackages, packages: readonly string[]): string {
  const licences = packages.map((path) => {
    const folder = join(workspace, path);
    const read = (pattern: RegExp): string[] => {
      const names = readdirSync(folder).filter((name) => pattern.test(name));
      return names.sort().map((name) => readFileSync(join(folder, name), 'utf8'));
    };
    // Some packages have their licence in their readme, and some only name it.
    const texts = new Set(read(/^(?:licen[cs]e|notice|copying)|\.licen[cs]e/i));
    const [section = locked[path]?.license] = /^#* *licen[cs]e\b[^]*/im.exec(read(/^readme/i).join('\n')) ?? [];
    return `${refOf(path, locked)}\n\n${texts.size > 0 ? [...texts].join('\n') : section}\n`;
  });
  return licences.join(`\n${'-'.repeat(80)}\n\n`);
}

function refOf(path: string, locked: LockedPackages): string {
  return `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${locked[path]?.version}`;
}
