import js from '@eslint/js';
import { readCachedProjectGraph } from '@nx/devkit';
import nx from '@nx/eslint-plugin';
import { defineConfig, globalIgnores } from 'eslint/config';
import regexp from 'eslint-plugin-regexp';
import globals from 'globals';
import tseslint from 'typescript-eslint';

/** The layers that each layer may import. */
const LAYERS = {
  kernel: [],
  contract: ['kernel'],
  'http-kit': ['kernel'],
  platform: ['kernel'],
  local: ['kernel'],
  client: ['client'],
  domain: ['kernel'],
  application: ['kernel', 'contract', 'domain'],
  infrastructure: ['kernel', 'contract', 'domain', 'application', 'platform'],
  http: ['kernel', 'contract', 'domain', 'application', 'http-kit'],
  'test-kit': ['kernel', 'platform', 'local'],
  app: ['kernel', 'contract', 'http-kit', 'platform', 'domain', 'application', 'infrastructure', 'http'],
  e2e: ['local', 'client', 'test-kit', 'e2e'],
  tool: [
    'kernel',
    'contract',
    'http-kit',
    'platform',
    'local',
    'client',
    'domain',
    'application',
    'infrastructure',
    'http',
    'test-kit',
    'app',
    'e2e',
    'tool',
  ],
};
/** Additional allowed imports: in specs and their support, in the Nest module and the definition of a context, in the command-line tool, in the app of an example. */
const EXTRA_IN_TESTS = {
  platform: ['local'],
  infrastructure: ['test-kit', 'local'],
  app: ['test-kit', 'local', 'app', 'client'],
};
const EXTRA_IN_MODULES = { http: ['infrastructure'] };
const EXTRA_IN_DEFINITIONS = { 'http-kit': ['platform'] };
const EXTRA_IN_CLI = { app: ['app', 'local'] };
const EXTRA_IN_EXAMPLES = { app: ['app'] };

/** The business rules, and the client, which also runs in browsers: they import neither npm packages nor Node.js, nor settings, which are for adapters and controllers. */
const PURE_PROJECTS = ['libs/kernel', 'libs/client', '{libs,examples}/*/{contract,domain,application}', 'examples/*/client'];

/** The folders of the API, from the inside out. Each may import the folders before it, and no file outside the folders. */
const API_FOLDERS = [
  'config',
  'observability',
  'errors',
  'rate-limit',
  'http',
  'validation',
  'authentication',
  'reference',
  'process',
  'contexts',
];

/** The rooms of the database library, in the same way. A file directly in `src` that rooms may import has its place in the order, too. */
const DATABASE_FOLDERS = [
  'persistence.ts',
  'connection',
  'statements',
  'replicas',
  'database.ts',
  'batching',
  'migrations',
  'events',
  'jobs',
];
const ORDERED_FOLDERS = [
  { place: 'the API', root: 'apps/api/src', order: API_FOLDERS, name: 'API_FOLDERS' },
  { place: 'the database library', root: 'libs/database/src', order: DATABASE_FOLDERS, name: 'DATABASE_FOLDERS' },
];

const TESTS = ['**/*.{spec,verify}.ts', '**/src/**/testing/**/*.ts'];
const TEST_PROJECTS = ['libs/test-kit', 'apps/*-e2e'];
const TEST_PACKAGES = ['@jest/globals', 'fast-check'];

/** The cached graph is fresh in every task of Nx. */
function projectTags() {
  try {
    return Object.values(readCachedProjectGraph().nodes).flatMap(({ data }) => data.tags ?? []);
  } catch {
    return [];
  }
}

/** All other scopes are contexts, which may import only themselves, the platform, and the contracts of other contexts. */
const SHARED_SCOPES = ['platform', 'apps', 'tools'];
const scopes = new Set(projectTags().filter((tag) => tag.startsWith('scope:')));
const contexts = [...scopes].map((tag) => tag.slice('scope:'.length)).filter((scope) => !SHARED_SCOPES.includes(scope));
const SCOPES = {
  platform: ['platform'],
  apps: [...contexts, 'platform', 'apps'],
  tools: [...contexts, ...SHARED_SCOPES],
};

/** @param published the layers of a context that other contexts may import */
function boundaries(extra = {}, options = {}, published = ['contract']) {
  const rows = (kind, table, shared = []) =>
    Object.entries(table).map(([name, allowed]) => ({
      sourceTag: `${kind}:${name}`,
      onlyDependOnLibsWithTags: [...allowed.map((target) => `${kind}:${target}`), ...shared.map((layer) => `layer:${layer}`)],
    }));
  const ofContexts = Object.fromEntries(contexts.map((context) => [context, [context, 'platform']]));
  const layers = Object.entries(LAYERS).map(([name, allowed]) => [name, [...allowed, ...(extra[name] ?? [])]]);
  const depConstraints = [...rows('scope', ofContexts, published), ...rows('scope', SCOPES), ...rows('layer', Object.fromEntries(layers))];
  return { '@nx/enforce-module-boundaries': ['error', { banTransitiveDependencies: true, depConstraints, ...options }] };
}

const OWN_INDEX = {
  regex: String.raw`^\.{1,2}/(?:.*/)?index\.js$`,
  message: 'Import the file itself. Importing the index of the same library causes an import cycle, in which names may still be undefined.',
};
const OWN_TEST_SUPPORT = {
  regex: String.raw`^\.{1,2}/(?:.*/)?(?:testing/.*|[^/]*\.spec)\.js$`,
  message: 'Only specs and test support may import test support.',
};
const STATIC_LOCAL_POSTGRES = {
  regex: '^@animal-store/local-postgres(?:/|$)',
  allowTypeImports: true,
  message: 'Import it dynamically, because the deployed tool does not contain it.',
};
const packagesExcept = (allowed) => ({
  regex: String.raw`^(?!${[String.raw`\.{1,2}/(?!settings/)`, '@animal-store/(?!kernel/settings$)', ...allowed.map((name) => `${name}$`)].join('|')})`,
  message: 'This layer must not import npm packages, Node.js modules or settings.',
});
const isFile = (name) => name.endsWith('.ts');
const pathOf = (name) => (isFile(name) ? String.raw`${name.slice(0, -'.ts'.length)}\.js$` : `${name}/`);
const othersExcept = (prefix, allowed, message) => ({ regex: `^${prefix}(?!${['$^', ...allowed.map(pathOf)].join('|')})`, message });
const otherFoldersExcept = (allowed, message) => othersExcept(String.raw`\.\./`, allowed, message);
const restrictedImports = (...patterns) => ({ 'no-restricted-imports': ['error', { patterns }] });

const restrictedSyntax = (...restrictions) => ({ 'no-restricted-syntax': ['error', ...restrictions] });
const DYNAMIC_IMPORT = { selector: 'ImportExpression', message: 'This layer must not use dynamic imports.' };
const LAZY_FROM_OTHER_FOLDER = {
  selector: String.raw`ImportExpression[source.value=/^\.\.\//]`,
  message: 'Dynamic imports in such a folder may only import files of that folder.',
};
const UNUSED_TEST = {
  selector: 'MemberExpression[object.name=/^(?:describe|it|test)$/][property.name=/^(?:only|skip|todo|fails)$/]',
  message: 'Tests must not be focused, skipped or expected to fail.',
};
// Fastify would convert other names on each response, which takes 1 % of the CPU time of a page.
const HEADER_NAME = {
  selector: String.raw`CallExpression:matches([callee.name="Header"], [callee.property.name=/^(?:get|has|remove)?[hH]eader$/]) > Literal:first-child[value=/[A-Z]/]`,
  message: 'Header names are written in lower case.',
};
const NODE_GLOBALS = ['process', 'Buffer', 'global', 'setImmediate', 'clearImmediate'];

function orderOfFolders({ place, root, order, name }) {
  const ofNewFolder = otherFoldersExcept([], `Add the new folder of ${place} to ${name}.`);
  return [
    {
      files: [`${root}/*/**/*.ts`],
      rules: { ...restrictedImports(OWN_INDEX, OWN_TEST_SUPPORT, ofNewFolder), ...restrictedSyntax(LAZY_FROM_OTHER_FOLDER, HEADER_NAME) },
    },
    ...order.map((entry, index) => {
      const inner = order.slice(0, index);
      const [files, prefix] = isFile(entry) ? [entry, String.raw`\./`] : [`${entry}/**/*.ts`, String.raw`\.\./`];
      const message = `In ${place}, ${entry} may only import ${['its own files', ...inner].join(' and ')}.`;
      return { files: [`${root}/${files}`], rules: restrictedImports(OWN_INDEX, OWN_TEST_SUPPORT, othersExcept(prefix, inner, message)) };
    }),
  ];
}

export default defineConfig(
  globalIgnores([
    '**/dist/',
    'apps/*/bundle/',
    'apps/api/guides/',
    'docs/guides/samples/',
    'apps/api-e2e/generated-clients/',
    '**/coverage/',
    '**/test-results/',
    '.nx/',
    '.data/',
  ]),
  { linterOptions: { noInlineConfig: true } },
  { files: ['**/*.{js,mjs}'], extends: [js.configs.recommended], languageOptions: { globals: globals.node } },
  { files: ['apps/*/assets/**/*.js'], linterOptions: { noInlineConfig: false }, languageOptions: { globals: globals.browser } },
  {
    files: ['**/*.ts'],
    plugins: { '@nx': nx, '@typescript-eslint': tseslint.plugin, regexp },
    // Types of decorated parameters are values at run time.
    languageOptions: { parser: tseslint.parser, parserOptions: { experimentalDecorators: true, emitDecoratorMetadata: true } },
    rules: {
      'no-warning-comments': ['error', { terms: ['oxlint-disable'], location: 'anywhere' }],
      // The time of a match must be linear in the length of what a stranger sends.
      'regexp/no-super-linear-backtracking': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      ...boundaries(),
      ...restrictedImports(OWN_INDEX, OWN_TEST_SUPPORT),
      ...restrictedSyntax(HEADER_NAME),
    },
  },
  { files: ['**/*.module.ts'], rules: boundaries(EXTRA_IN_MODULES) },
  { files: ['libs/http-kit/src/define-context.ts'], rules: boundaries(EXTRA_IN_DEFINITIONS) },
  {
    files: ['apps/cli/**/*.ts'],
    rules: { ...boundaries(EXTRA_IN_CLI), ...restrictedImports(OWN_INDEX, OWN_TEST_SUPPORT, STATIC_LOCAL_POSTGRES) },
  },
  { files: ['examples/*/app/**/*.ts'], rules: boundaries(EXTRA_IN_EXAMPLES) },
  ...ORDERED_FOLDERS.flatMap(orderOfFolders),
  {
    files: PURE_PROJECTS.map((root) => `${root}/**/*.ts`),
    ignores: ['libs/kernel/src/settings/**'],
    rules: {
      'no-restricted-globals': ['error', ...NODE_GLOBALS.map((name) => ({ name, message: 'This layer must not use Node.js globals.' }))],
      ...restrictedImports(OWN_INDEX, OWN_TEST_SUPPORT, packagesExcept([])),
      ...restrictedSyntax(DYNAMIC_IMPORT),
    },
  },
  {
    files: [...TESTS, ...TEST_PROJECTS.map((root) => `${root}/**/*.ts`)],
    rules: {
      'regexp/no-super-linear-backtracking': 'off',
      // A spec may import statically what production code loads lazily.
      ...boundaries(EXTRA_IN_TESTS, { checkDynamicDependenciesExceptions: ['.*'] }, ['contract']),
      'no-restricted-imports': 'off',
      ...restrictedSyntax(UNUSED_TEST),
    },
  },
  {
    files: PURE_PROJECTS.flatMap((root) => TESTS.map((pattern) => `${root}/${pattern}`)),
    rules: { ...restrictedImports(packagesExcept(TEST_PACKAGES)), ...restrictedSyntax(DYNAMIC_IMPORT, UNUSED_TEST) },
  },
);
