import { type Tree, updateJson } from '@nx/devkit';
import type { ContextNames } from '../names.ts';
import { addLine, editFile } from '../tree.ts';
import { LIBRARIES } from './libraries.ts';

interface TsConfig {
  references: { path: string }[];
}

/** Adds the entries of a context to the files that all contexts share. */
export function registerContext(tree: Tree, names: ContextNames): void {
  const { context, code, text, Entities } = names;
  editFile(tree, 'apps/api/src/registered-contexts.ts', (source) =>
    addLine(source, `export { ${Entities}Module } from '@animal-store/${context}-http';`, /^export .* from '@animal-store\//),
  );
  addReferences(tree, 'apps/api/tsconfig.lib.json', `../../libs/${context}/http`);
  addReferences(tree, 'tsconfig.json', ...LIBRARIES.map(({ layer }) => `./libs/${context}/${layer}`));
  for (const owned of [`/libs/${context}/`, `/apps/api-e2e/src/contexts/${context}/`]) {
    editFile(tree, '.github/CODEOWNERS', (owners) => `${owners.trimEnd()}\n${owned.padEnd(21)} @animal-store/${context}\n`);
  }
  editFile(tree, 'docs/guides/errors.md', (page) => {
    const section = `### \`${code}_not_found\`\n\nStatus 404. Retry: no.\n\nNo ${text} has this identifier. Check the identifier.\n\n`;
    return page.replace(/^(?=### `route_not_found`$)/m, section);
  });
  editFile(tree, 'README.md', (page) => {
    const line = `- [\`libs/${context}\`](libs/${context}/README.md): ${names.texts}`;
    return page.replace(/(?=\n\n\*\*Platform\*\*)/, `\n${line}`);
  });
}

function addReferences(tree: Tree, path: string, ...references: readonly string[]): void {
  updateJson<TsConfig>(tree, path, (config) => ({
    ...config,
    references: [...config.references, ...references.map((reference) => ({ path: reference }))],
  }));
}
