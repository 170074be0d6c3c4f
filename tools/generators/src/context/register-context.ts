import { type Tree, updateJson } from '@nx/devkit';
import type { ContextNames } from '../names.ts';
import { addImport, addLine, exportsOf } from '../source-edits.ts';
import { editFile, readText } from '../tree.ts';
import { LIBRARIES } from './libraries.ts';

const CLIENT = 'libs/client/src';
const CONTEXTS = 'apps/api/src/registered-contexts.ts';
const ERRORS = 'docs/guides/errors.md';
const NEXT_RELEASE = '## Next release\n\n### Added\n\n';
const SCOPE = /^- `[a-z-]+:(?:read|write)`: /;

const guideOf = (context: string) => `docs/guides/${context}.md`;

interface TsConfig {
  references: { path: string }[];
}

/** @throws Error if a shared file already has a name of the context */
export function assertFree(tree: Tree, { context, code, Entity, Entities }: ContextNames): void {
  const rejection = (reason: string) => new Error(`"${context}" cannot be the name of a context: ${reason}`);
  const exported = exportsOf(readText(tree, `${CLIENT}/index.ts`));
  const taken = [Entity, Entities, `New${Entity}`, `${Entity}ListParams`].find((name) => exported.includes(name));
  if (taken !== undefined) throw rejection(`the client already exports ${taken}`);
  if (exportsOf(readText(tree, CONTEXTS)).includes(`${Entities}Module`)) throw rejection(`${CONTEXTS} already exports ${Entities}Module`);
  if (readText(tree, ERRORS).includes(`### \`${code}_not_found\`\n`)) throw rejection(`the error code ${code}_not_found already exists`);
  if (tree.exists(guideOf(context))) throw rejection(`${guideOf(context)} already exists`);
}

/** Adds the entries of a context to the files that all contexts share. */
export function registerContext(tree: Tree, names: ContextNames): void {
  const { context, code, text, Entities } = names;
  editFile(tree, CONTEXTS, (source) =>
    addLine(source, `export { ${Entities}Module } from '@animal-store/${context}-http';`, /^export .* from '@animal-store\//),
  );
  addReferences(tree, 'apps/api/tsconfig.json', `../../libs/${context}/http`);
  addReferences(tree, 'tsconfig.json', ...LIBRARIES.map(({ layer }) => `./libs/${context}/${layer}`));
  const files = [`/${CLIENT}/${context}.ts`, `/${CLIENT}/${context}.spec.ts`, `/${guideOf(context)}`];
  for (const owned of [`/libs/${context}/`, `/apps/api-e2e/src/contexts/${context}/`, ...files]) {
    editFile(tree, '.github/CODEOWNERS', (owners) => `${owners.trimEnd()}\n${owned.padEnd(21)} @animal-store/${context}\n`);
  }
  editFile(tree, ERRORS, (page) => {
    const section = `### \`${code}_not_found\`\n\nStatus 404. Retry: no.\n\nNo ${text} has this identifier. Check the identifier.\n\n`;
    return page.replace(/^(?=### `route_not_found`$)/m, section);
  });
  editFile(tree, 'docs/architecture.md', (page) => {
    const line = `- [\`libs/${context}\`](../libs/${context}/README.md): ${names.texts}`;
    return page.replace(/(?=\n\n\*\*Platform\*\*)/, `\n${line}`);
  });
  registerInClient(tree, names);
  registerInGuides(tree, names);
}

function registerInClient(tree: Tree, { context, Entity, Entities, variables }: ContextNames): void {
  editFile(tree, `${CLIENT}/animal-store.ts`, (source) => {
    const withField = addLine(source, `  readonly ${variables}: ${Entities};`, /^ {2}readonly \w+: \w+;$/);
    const assigned = addLine(withField, `    this.${variables} = new ${Entities}(transport);`, /^ {4}this\.\w+ = /);
    return addImport(assigned, Entities, `./${context}.js`);
  });
  const exported = `New${Entity}, ${Entity}, ${Entity}ListParams, ${Entities}`;
  editFile(tree, `${CLIENT}/index.ts`, (index) =>
    addLine(index, `export type { ${exported} } from './${context}.js';`, /^export type \{ New/),
  );
}

function registerInGuides(tree: Tree, { context, texts, Entity, Entities }: ContextNames): void {
  const guide = `- [${texts.charAt(0).toUpperCase()}${texts.slice(1)}](${context}.md)\\\n  List ${texts}, and create them.`;
  editFile(tree, 'docs/guides/README.md', (home) => home.replace(/(?=\n\n## Go live\n)/, `\n${guide}`));
  const scopes = [`- \`${context}:read\`: \`list${Entities}\`, \`get${Entity}\``, `- \`${context}:write\`: \`create${Entity}\``];
  editFile(tree, 'docs/guides/authentication.md', (page) => scopes.reduce((edited, scope) => addLine(edited, scope, SCOPE), page));
  const change = `- \`list${Entities}\`, \`create${Entity}\` and \`get${Entity}\` for ${texts}, with the scopes \`${context}:read\` and \`${context}:write\`.`;
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
