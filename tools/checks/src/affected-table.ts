import { type Project, tagOf } from './workspace.js';

/** The deployed API, and what is made of it or speaks to it. */
const DEPLOYMENT = ['api', 'api-e2e', 'bench', 'chaos', 'cli', 'package', 'start'];
/** Reads every file of the workspace. */
const CHECKS = 'checks';

/** What a change in a project affects besides itself and the checks: names, or tags for all projects that have them. */
const PROJECTS: Readonly<Record<string, readonly string[]>> = {
  kernel: ['http-contract', 'layer:domain', 'layer:application', 'layer:infrastructure', 'layer:http', 'layer:testing', ...DEPLOYMENT],
  'http-contract': ['layer:http', ...DEPLOYMENT],
  database: ['test-kit', 'layer:infrastructure', 'layer:http', ...DEPLOYMENT],
  'test-kit': ['layer:infrastructure', 'layer:http', ...DEPLOYMENT],
  'local-postgres': ['database', 'test-kit', 'layer:infrastructure', 'layer:http', ...DEPLOYMENT, 'generators', 'testing'],

  'access-domain': ['access-application', 'access-infrastructure', 'access-testing', ...DEPLOYMENT],
  'access-testing': ['access-application', 'access-infrastructure', ...DEPLOYMENT],
  'access-application': ['access-infrastructure', ...DEPLOYMENT],
  'access-infrastructure': DEPLOYMENT,

  api: ['api-e2e', 'bench', 'chaos', 'cli', 'package', 'start'],
  'api-e2e': [],
  cli: ['api-e2e', 'package'],

  bench: [],
  chaos: ['bench'],
  checks: [],
  generators: [],
  package: [],
  start: [],
  testing: [],
};

/** The same for the layers of every other context: the further layers of that context, and the deployment. */
const LAYERS_OF_A_CONTEXT: Readonly<Record<string, readonly string[]>> = {
  domain: ['application', 'infrastructure', 'http', 'testing'],
  testing: ['application', 'infrastructure', 'http'],
  application: ['http'],
  infrastructure: ['http'],
  http: [],
};

/** The context whose shape the templates of the generators have, which a spec of theirs compares. */
const MODEL = { context: 'pets', of: ['generators'] };

/** What a change in a file that belongs to no project affects besides the checks. */
export const FILES: Readonly<Record<string, readonly string[] | 'all'>> = {
  'README.md': ['generators'],
  'docs/adr/README.md': [],
  '.github/workflows/ci.yml': [],
  '.prettierrc.json': ['generators'],
  Dockerfile: ['package'],
  'docs/errors.md': [...DEPLOYMENT, 'generators'],
  'docs/openapi.json': DEPLOYMENT,
  'eslint.config.mjs': 'all',
  'nx.json': 'all',
  'package-lock.json': 'all',
  'tsconfig.base.json': 'all',
  'jest.preset.js': 'all',
};

export const PROJECTS_WITH_A_ROW: readonly string[] = Object.keys(PROJECTS);

const SHARED_SCOPES = ['platform', 'apps', 'tools'];

/** The context that a project belongs to. */
export function contextOf(project: Project): string | undefined {
  const scope = tagOf(project, 'scope');
  return scope === undefined || SHARED_SCOPES.includes(scope) ? undefined : scope;
}

/** The names, in order, of what a change in the project affects. */
export function affectedBy(project: Project, projects: readonly Project[]): string[] {
  const row = PROJECTS[project.name] ?? rowOfContext(project, projects);
  if (!row) throw new Error(`${project.name} has no row: say in tools/checks/src/affected-table.ts what a change in it affects`);
  return namesOf(row, project.name, projects);
}

export function affectedByFile(row: readonly string[] | 'all', projects: readonly Project[]): string[] {
  return row === 'all' ? projects.map(({ name }) => name).sort() : namesOf(row, CHECKS, projects);
}

function rowOfContext(project: Project, projects: readonly Project[]): readonly string[] | undefined {
  const context = contextOf(project);
  const layers = LAYERS_OF_A_CONTEXT[tagOf(project, 'layer') ?? ''];
  if (context === undefined || !layers) return undefined;
  const ofContext = projects.filter((other) => contextOf(other) === context && layers.includes(tagOf(other, 'layer') ?? ''));
  return [...ofContext.map(({ name }) => name), ...DEPLOYMENT, ...(context === MODEL.context ? MODEL.of : [])];
}

function namesOf(row: readonly string[], self: string, projects: readonly Project[]): string[] {
  const tagged = (entry: string) => projects.filter(({ tags }) => tags.includes(entry)).map(({ name }) => name);
  return [...new Set([self, CHECKS, ...row.flatMap((entry) => (entry.includes(':') ? tagged(entry) : entry))])].sort();
}
