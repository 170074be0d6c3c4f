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
export async function generateMigration(tree: Tree, { name, context }: MigrationOptions): Promise<void> {
  assertKebabCase(name, 'the name');
  assertContext(tree, context);
  const folder = `libs/${context}/infrastructure/src/migrations`;
  const files = tree.children(folder);
  const same = files.find((file) => file.replace(/^[0-9]+-/, '') === `${name}.ts`);
  if (same !== undefined) throw new Error(`${folder}/${same} already exists`);

  const newest = Math.max(0, ...files.map((file) => Number(/^[0-9]+/.exec(file)?.[0] ?? 0)));
  const timestamp = String(Math.max(Date.now(), newest + 1));
  const Migration = `${pascalCase(name)}${timestamp}`;
  generateFiles(tree, join(import.meta.dirname, 'files'), folder, { name, timestamp, Migration });
  editFile(tree, `libs/${context}/infrastructure/src/${context}-persistence.ts`, (persistence) =>
    addToArray(addImport(persistence, Migration, `./migrations/${timestamp}-${name}.js`), 'migrations', Migration),
  );
  await formatFiles(tree);
}
