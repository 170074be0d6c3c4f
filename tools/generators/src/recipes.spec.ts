import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { formatFiles } from '@nx/devkit';
import { FsTree } from 'nx/src/generators/tree.js';
import ts from 'typescript';
import { generateContext } from './context/context.generator.js';
import { generateMigration } from './migration/migration.generator.js';
import { applyRecipe, documentedFiles, productionFiles, RECIPES } from './testing/recipes.js';
import { readText } from './tree.js';

const WORKSPACE = fileURLToPath(new URL('../../../', import.meta.url));
const page = readFileSync(join(WORKSPACE, 'docs/adding-a-context.md'), 'utf8');

const tree = new FsTree(WORKSPACE, false);
const textsOf = () => new Map(tree.listChanges().map(({ path, content }) => [path, content?.toString('utf8') ?? '']));

describe.each(RECIPES)('"$title" in docs/adding-a-context.md', (recipe) => {
  it(`edits the files that it names, at most ${String(recipe.maxProductionFiles)} production files`, async () => {
    if (!tree.exists('libs/orders')) await generateContext(tree, { name: 'orders' });
    const before = textsOf();
    await generateMigration(tree, { name: recipe.migration, context: 'orders' });
    applyRecipe(recipe, {
      read: (path) => readText(tree, path),
      write: (path, text) => tree.write(path, text),
      list: (folder) => tree.children(folder),
    });
    await formatFiles(tree);
    const edited = [...textsOf()].filter(([path, text]) => before.get(path) !== text);
    const production = productionFiles(edited.map(([path]) => path));
    expect(production).toEqual(documentedFiles(page, recipe));
    expect(production.length).toBeLessThanOrEqual(recipe.maxProductionFiles);
    for (const [path, text] of edited) {
      const { diagnostics } = ts.transpileModule(text, {
        reportDiagnostics: true,
        compilerOptions: { experimentalDecorators: true, target: ts.ScriptTarget.ES2024 },
      });
      expect([path, diagnostics?.map(({ messageText }) => messageText)]).toEqual([path, []]);
    }
  });
});
