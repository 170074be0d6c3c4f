import { join } from 'node:path';
import { formatFiles, generateFiles, type Tree } from '@nx/devkit';
import { assertKebabCase, pascalCase } from '../names.ts';
import { addImport, addToArray } from '../source-edits.ts';
import { assertContext, editFile } from '../tree.ts';

export interface MigrationOptions {
  readonly name: string;
  readonly context: string;
}

/** Generates a migration that runs after all others of its context. The file name and the class name contain the time. */
export async function generateMigration(tree: Tree, { name, context }: MigrationOptions): Promise<() => void> {
  assertKebabCase(name, 'the name');
  assertContext(tree, context);
  const folder = `libs/${context}/infrastructure/src/migrations`;
  const files = tree.children(folder);
  const same = files.find((file) => file.replace(/^[0-9]+-/, '') === `${name}.ts`);
  if (same !== undefined) throw new Error(`${folder}/${same} already exists`);

  const timestamp = nextTimestamp(tree, folder);
  const Migration = `${pascalCase(name)}${timestamp}`;
  generateFiles(tree, join(import.meta.dirname, 'files'), folder, { name, timestamp, Migration });
  editFile(tree, `libs/${context}/infrastructure/src/${context}-persistence.ts`, (persistence) =>
    addToArray(addImport(persistence, Migration, `./migrations/${timestamp}-${name}.js`), 'migrations', Migration),
  );
  await formatFiles(tree);
  return () =>
    console.log(`
The migration is registered, and throws until you write it.

  Write        ${folder}/${timestamp}-${name}.ts
  Test         npx nx test ${context}-infrastructure
  Read         docs/adding-a-context.md, section Migrations: what a migration may change
`);
}

/** Returns the time for the name of a migration that runs after all others of the folder. */
export function nextTimestamp(tree: Tree, folder: string): string {
  const newest = Math.max(0, ...tree.children(folder).map((file) => Number(/^[0-9]+/.exec(file)?.[0] ?? 0)));
  return String(Math.max(Date.now(), newest + 1));
}
