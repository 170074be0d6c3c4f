import { type Tree, updateJson } from '@nx/devkit';
import type { ContextNames, ResourceNames } from '../names.ts';
import { addImport, addLine, addToArray, exportsOf } from '../source-edits.ts';
import { editFile, readText } from '../tree.ts';

interface Library {
  readonly layer: string;
  /** The libraries that it and its specs import, as relative folders. */
  readonly references: readonly string[];
  readonly hasSpecs: boolean;
}

export const LIBRARIES: readonly Library[] = [
  { layer: 'contract', references: [], hasSpecs: false },
  { layer: 'domain', references: ['../../kernel'], hasSpecs: true },
  { layer: 'application', references: ['../../kernel', '../domain'], hasSpecs: true },
  {
    layer: 'infrastructure',
    references: ['../../kernel', '../domain', '../contract', '../../test-kit', '../../database'],
    hasSpecs: true,
  },
  {
    layer: 'http',
    references: ['../infrastructure', '../application', '../../kernel', '../domain', '../contract', '../../http-kit'],
    hasSpecs: false,
  },
];

export const CLIENT = 'libs/client/src';
export const ROUTE_SPECS = 'apps/api/src/contexts';
const CONTEXTS = 'apps/api/src/registered-contexts.ts';
const ERRORS = 'docs/guides/errors.md';
const NEXT_RELEASE = '## Next release\n\n### Added\n\n';
const SCOPE = /^- `[a-z-]+:[a-z-]+`: /;

const guideOf = (context: string) => `docs/guides/${context}.md`;

interface TsConfig {
  references: { path: string }[];
}

/** @throws Error if a shared file already has a name of the context */
export function assertFree(tree: Tree, names: ContextNames): void {
  const { context, code } = names;
  const rejected = `"${context}" cannot be the name of a context`;
  const rejection = (reason: string) => new Error(`${rejected}: ${reason}`);
  assertFreeInClient(tree, names, rejected);
  if (readText(tree, ERRORS).includes(`### \`${code}_not_found\`\n`)) throw rejection(`the error code ${code}_not_found already exists`);
  if (tree.exists(guideOf(context))) throw rejection(`${guideOf(context)} already exists`);
}

/** @throws Error that begins with `rejected` if the client already exports a name of the resource */
export function assertFreeInClient(tree: Tree, { Entity, Entities }: ResourceNames, rejected: string): void {
  const exported = exportsOf(readText(tree, `${CLIENT}/index.ts`));
  const taken = [Entity, Entities, `New${Entity}`, `${Entity}ListParams`].find((name) => exported.includes(name));
  if (taken !== undefined) throw new Error(`${rejected}: the client already exports ${taken}`);
}

/** Adds the entries of a context to the files that all contexts share. */
export function registerContext(tree: Tree, names: ContextNames, description = `${names.texts}, which clients create, list and get`): void {
  const { context, code, text, variables } = names;
  editFile(tree, CONTEXTS, (source) =>
    addToArray(addImport(source, `${variables}Context`, `@animal-store/${context}-http`), 'contexts', `${variables}Context`),
  );
  addReferences(tree, 'apps/api/tsconfig.json', `../../libs/${context}/http`);
  addReferences(tree, 'tsconfig.json', ...LIBRARIES.map(({ layer }) => `./libs/${context}/${layer}`));
  const files = [`/${ROUTE_SPECS}/${context}.integration.spec.ts`, `/${CLIENT}/${context}.ts`, `/${guideOf(context)}`];
  addOwners(tree, context, [`/libs/${context}/`, ...files]);
  editFile(tree, ERRORS, (page) => {
    const section = `### \`${code}_not_found\`\n\nStatus 404. Retry: no.\n\nNo ${text} has this identifier. Check the identifier.\n\n`;
    return page.replace(/^(?=### `route_not_found`$)/m, section);
  });
  editFile(tree, 'docs/architecture.md', (page) => {
    const line = `- [\`libs/${context}\`](../libs/${context}/README.md): ${description}`;
    return page.replace(/(?=^- \[`libs\/access`\])/m, `${line}\n`);
  });
  registerInClient(tree, names);
  registerInGuides(tree, names);
}

export function addOwners(tree: Tree, context: string, paths: readonly string[]): void {
  const lines = paths.map((path) => `${path.padEnd(21)} @animal-store/${context}\n`);
  editFile(tree, '.github/CODEOWNERS', (owners) => `${owners.trimEnd()}\n${lines.join('')}`);
}

export function exportFromClient(tree: Tree, exported: string, file: string): void {
  editFile(tree, `${CLIENT}/index.ts`, (index) =>
    addLine(index, `export type { ${exported} } from './${file}.js';`, /^export type \{ New/),
  );
}

function registerInClient(tree: Tree, { context, Entity, Entities, variables }: ContextNames): void {
  editFile(tree, `${CLIENT}/animal-store.ts`, (source) => {
    const withField = addLine(source, `  readonly ${variables}: ${Entities};`, /^ {2}readonly \w+: \w+;$/);
    const assigned = addLine(withField, `    this.${variables} = new ${Entities}(transport);`, /^ {4}this\.\w+ = /);
    return addImport(assigned, Entities, `./${context}.js`);
  });
  exportFromClient(tree, `New${Entity}, ${Entity}, ${Entity}ListParams, ${Entities}`, context);
}

function registerInGuides(tree: Tree, { context, texts, Entity, Entities }: ContextNames): void {
  const guide = `- [${texts.charAt(0).toUpperCase()}${texts.slice(1)}](${context}.md)\\\n  List ${texts}, and create them.`;
  editFile(tree, 'docs/guides/README.md', (home) => home.replace(/(?=\n\n## Test\n)/, `\n${guide}`));
  const scopes = [`- \`${context}:read\`: \`list${Entities}\`, \`get${Entity}\``, `- \`${context}:write\`: \`create${Entity}\``];
  editFile(tree, 'docs/guides/authentication.md', (page) => scopes.reduce((edited, scope) => addLine(edited, scope, SCOPE), page));
  const change = `- \`list${Entities}\`, \`create${Entity}\` and \`get${Entity}\` for ${texts}, with the scopes \`${context}:read\` and \`${context}:write\`.`;
  addChange(tree, change);
}

/** Adds a line to the next release in the changelog of the API. */
export function addChange(tree: Tree, change: string): void {
  editFile(tree, 'docs/guides/changelog.md', (page) =>
    page.includes(NEXT_RELEASE)
      ? page.replace(NEXT_RELEASE, `${NEXT_RELEASE}${change}\n`)
      : page.replace(/^(?=## )/m, `${NEXT_RELEASE}${change}\n\n`),
  );
}

function addReferences(tree: Tree, path: string, ...references: readonly string[]): void {
  updateJson<TsConfig>(tree, path, (config) => ({
    ...config,
    references: [...config.references, ...references.map((reference) => ({ path: reference }))],
  }));
}
