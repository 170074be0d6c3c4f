import { execSync } from 'node:child_process';
import { join } from 'node:path';
import { formatFiles, generateFiles, installPackagesTask, type Tree } from '@nx/devkit';
import { type ContextNames, namesOfContext } from '../names.ts';
import { LIBRARIES } from './libraries.ts';
import { register } from './register.ts';

const FILES = join(import.meta.dirname, 'files');

export interface ContextOptions {
  readonly name: string;
  readonly singular?: string;
}

/** A context in the shape of `libs/pets`: its libraries, its end-to-end spec, and its line in every list of the workspace. */
export async function generateContext(tree: Tree, { name, singular }: ContextOptions): Promise<() => void> {
  const names = namesOfContext(name, singular);
  if (tree.exists(`libs/${name}`)) throw new Error(`libs/${name} is already there`);
  makeLibraries(tree, names);
  register(tree, names);
  await formatFiles(tree);
  return () => finish(tree, names);
}

export function makeLibraries(tree: Tree, names: ContextNames): void {
  const substitutions = { ...names, timestamp: String(Date.now()) };
  for (const library of LIBRARIES) {
    const root = `libs/${names.context}/${library.layer}`;
    generateFiles(tree, join(FILES, 'library'), root, { ...substitutions, ...library.describe(names), ...library });
    generateFiles(tree, join(FILES, library.layer), `${root}/src`, substitutions);
  }
  generateFiles(tree, join(FILES, 'e2e'), `apps/api-e2e/src/contexts/${names.context}`, substitutions);
}

/** What takes more than files: npm links the new packages, and the OpenAPI document is made from the built code. */
function finish(tree: Tree, { context }: ContextNames): void {
  installPackagesTask(tree, true);
  execSync('npm run --silent openapi', { cwd: tree.root, stdio: 'inherit' });
  console.log(`
The context ${context} is there and served. Its line in the app: apps/api/src/registered-contexts.ts.
Next: npm test; docs/adding-a-context.md says what to change first.`);
}
