import { describe, expect, it } from '@jest/globals';
import { readProjects, readText, workspaceFiles } from './workspace.js';

const LAYERS_OF_CONTEXTS = ['contract', 'domain', 'application', 'infrastructure', 'http', 'testing', 'client'];
/** The layers of the libraries that belong to no context. */
const PLATFORM: Readonly<Record<string, string>> = {
  kernel: 'kernel',
  client: 'client',
  'http-kit': 'http-kit',
  database: 'platform',
  'local-postgres': 'local',
  'test-kit': 'test-kit',
};

/** Packages that are not named after their folder: `nx g` takes this name. */
const PACKAGE_NAMES: Readonly<Record<string, string>> = { 'tools/generators': '@animal-store/tools' };

/** Returns the tags that follow from the folder of a project. */
function expectedTags(root: string): string[] {
  const [top, first = '', second] = root.split('/');
  if (top === 'tools') return ['layer:tool', 'scope:tools'];
  if (top === 'apps') return [first.endsWith('-e2e') ? 'layer:e2e' : 'layer:app', 'scope:apps'];
  if (top === 'examples' && second === 'app') return ['layer:app', 'scope:apps'];
  if (second !== undefined) return [`layer:${LAYERS_OF_CONTEXTS.includes(second) ? second : '?'}`, `scope:${first}`];
  return [`layer:${PLATFORM[first] ?? '?'}`, 'scope:platform'];
}

const projects = readProjects();
const files = workspaceFiles();

describe.each(projects.map((project) => [project.root, project] as const))('%s', (root, project) => {
  const name = root.split('/').slice(1).join('-');

  it('is named after its folder', () => {
    expect(project.name).toBe(name);
    if (project.packageName !== undefined) expect(project.packageName).toBe(PACKAGE_NAMES[root] ?? `@animal-store/${name}`);
  });

  it('has one layer and one scope, according to its folder', () => {
    expect([...project.tags].sort()).toEqual(expectedTags(root));
  });

  it('is published if it is for callers of the API', () => {
    expect(project.isPublished).toBe(root === 'libs/client');
  });

  it('has an owner', () => {
    expect(owners().some((pattern) => `/${root}/`.startsWith(pattern))).toBe(true);
  });
});

it('every spec is a TypeScript file in the sources of a project, where Jest looks for it', () => {
  const specs = files.filter((file) => /\.(?:spec|test|verify)\.[cm]?[jt]sx?$/.test(file));
  expect(specs.length).toBeGreaterThan(100);
  const isFound = (file: string) => /\.(?:spec|verify)\.ts$/.test(file) && projects.some(({ root }) => file.startsWith(`${root}/src/`));
  expect(specs.filter((file) => !isFound(file))).toEqual([]);
});

it('every owned path exists', () => {
  const paths = owners().filter((pattern) => pattern.startsWith('/'));
  expect(paths.length).toBeGreaterThan(0);
  expect(paths.filter((path) => !files.some((file) => `/${file}`.startsWith(path)))).toEqual([]);
});

it('only generated files, the API changelog, and guides that list what all contexts offer have no owner', () => {
  const unowned = readText('.github/CODEOWNERS')
    .split('\n')
    .filter((line) => /^\/\S+$/.test(line));
  const guides = ['authentication', 'changelog', 'errors'].map((guide) => `/docs/guides/${guide}.md`);
  const generated = ['/docs/how-we-know.md', '/docs/openapi.json', '/docs/variables.md', '/libs/client/src/openapi.generated.ts'];
  expect(unowned).toEqual(['/.env.example', ...guides, ...generated]);
  expect(unowned.filter((path) => !files.includes(path.slice(1)))).toEqual([]);
});

/** Code that the service, its client, its command line and `npm start` run. */
const PRODUCTION = /^(?:apps\/(?:api|cli)|libs\/[^/]+(?:\/[^/]+)?|tools\/(?:start|faults))\/src\/.+(?<!\.(?:spec|verify))\.ts$/;
const WALL_CLOCK = /\bDate\.now\(\)|\bnew Date\(\)/;

/** Files that need the time of day. A clock that is set must not change durations and time limits: they use `performance.now()`. */
const TIME_OF_DAY = [
  'apps/api/src/contexts/job-runner.ts',
  'apps/api/src/http/socket-errors.ts',
  'apps/api/src/observability/logger.ts',
  'apps/cli/src/database-checks.ts',
  'apps/cli/src/output.ts',
  'libs/client/src/retry.ts',
  'libs/kernel/src/clock.ts',
  'tools/faults/src/chaos/main.ts',
  'tools/faults/src/fault-record.ts',
];

it('only code that needs the time of day reads the wall clock', () => {
  const readers = files.filter((file) => PRODUCTION.test(file) && !file.includes('testing/') && WALL_CLOCK.test(readText(file)));
  expect(readers.toSorted()).toEqual(TIME_OF_DAY);
});

/** Returns the paths in CODEOWNERS that have an owner, without the fallback. */
function owners(): string[] {
  return readText('.github/CODEOWNERS')
    .split('\n')
    .filter((line) => /^\/\S+\s+@\S+/.test(line))
    .map((line) => line.split(/\s+/)[0] ?? '');
}
