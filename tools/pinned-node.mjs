// Runs on any Node.js that npm runs on, so that it can say which one is missing.
import { existsSync, linkSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const WORKSPACE = join(dirname(fileURLToPath(import.meta.url)), '..');
const MODULES = join(WORKSPACE, 'node_modules');
const { dependencies, devDependencies, optionalDependencies } = readJson(join(WORKSPACE, 'package.json'));
/** The packages with a Node.js, one per platform. */
const PLATFORM_PACKAGES = Object.keys(optionalDependencies).filter((name) => /^node-/.test(name));
const PINNED_VERSION = optionalDependencies[PLATFORM_PACKAGES[0]];

/** A problem that the user can fix. The message is one line. */
export class NodeError extends Error {
  constructor(message) {
    super(message);
    // Jest prints the stack.
    this.stack = message;
  }
}

/**
 * Returns the path of the Node.js in node_modules. npm before 11.6 installs it, but removes its link in `node_modules/.bin`
 * (https://github.com/npm/cli/issues/4362).
 * @throws NodeError
 */
export function findNode() {
  if (!existsSync(MODULES)) throw new NodeError('The packages are not installed. Run "npm ci".');
  const missing = Object.keys({ ...dependencies, ...devDependencies }).find((name) => !existsSync(join(MODULES, name, 'package.json')));
  if (missing) throw incomplete(`lacks ${missing}`);
  for (const name of PLATFORM_PACKAGES) {
    const folder = join(MODULES, name);
    if (!existsSync(join(folder, 'package.json'))) continue;
    const { version, os, cpu, bin } = readJson(join(folder, 'package.json'));
    if (![os].flat().includes(process.platform) || ![cpu].flat().includes(process.arch)) continue;
    if (version !== PINNED_VERSION) throw incomplete(`has ${name} ${version} instead of ${PINNED_VERSION}`);
    if (!existsSync(join(folder, bin.node))) throw incomplete(`lacks the program of ${name}`);
    return realpathSync(join(folder, bin.node));
  }
  if (isSupported(process.versions.node)) return process.execPath;
  throw new NodeError(
    `node_modules has no Node.js for ${process.platform}-${process.arch}. If package.json has one, run "npm ci --include=optional". ` +
      `Otherwise run this with Node.js ${PINNED_VERSION}.`,
  );
}

/** Restores the link that npm removed. Without it, the scripts still work, but `npx` runs another Node.js. */
export function linkNode(node) {
  const folder = join(MODULES, '.bin');
  const link = join(folder, basename(node));
  if (existsSync(link) || existsSync(`${link.replace(/\.exe$/, '')}.cmd`)) return;
  try {
    if (process.platform === 'win32') linkSync(node, link);
    else symlinkSync(relative(realpathSync(folder), node), link);
  } catch {
    // Read-only, or created by another process.
  }
}

/** Throws if this process is not the Node.js of node_modules or a newer one, as when an editor or `npx` runs another one. */
export function requirePinnedNode() {
  if (isSupported(process.versions.node)) return;
  throw new NodeError(
    `This runs on Node.js ${process.versions.node} but requires the ${PINNED_VERSION} in node_modules. ` +
      'Run "npm run postinstall", which links it for npx, or use an npm script such as "npm run jest -- <file>".',
  );
}

function isSupported(version) {
  return version.localeCompare(PINNED_VERSION, 'en', { numeric: true }) >= 0;
}

function incomplete(reason) {
  return new NodeError(`node_modules ${reason}. Run "npm ci --include=dev --include=optional".`);
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
