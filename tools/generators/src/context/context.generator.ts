import { join } from 'node:path';
import { formatFiles, generateFiles, installPackagesTask, OverwriteStrategy, type Tree } from '@nx/devkit';
import { type ContextNames, namesOfContext } from '../names.ts';
import { updateOpenApi } from '../tree.ts';
import { assertFree, LIBRARIES, registerContext, ROUTE_SPECS } from './register-context.ts';

const FILES = join(import.meta.dirname, 'files');
/** The name of a context may be that of a file in a shared folder. */
const OPTIONS = { overwriteStrategy: OverwriteStrategy.ThrowIfExisting };

export interface ContextOptions {
  readonly name: string;
  readonly singular: string;
  /** Whether Citus distributes the tables of the context. */
  readonly sharded?: boolean;
  /** What the context is, for docs/architecture.md. */
  readonly description?: string;
}

/** Generates a context like `libs/pets`: libraries, methods of the client, a guide, a spec of the routes, and entries in shared files. */
export async function generateContext(tree: Tree, { name, singular, sharded, description }: ContextOptions): Promise<() => void> {
  const names = namesOfContext(name, singular);
  if (tree.exists(`libs/${name}`)) throw new Error(`libs/${name} already exists`);
  assertFree(tree, names);
  generateLibraries(tree, names, sharded);
  registerContext(tree, names, description);
  await formatFiles(tree);
  return () => finish(tree, names);
}

export function generateLibraries(tree: Tree, names: ContextNames, sharded = false): void {
  const root = `libs/${names.context}`;
  const substitutions = { ...names, sharded, timestamp: String(Date.now()) };
  generateFiles(tree, join(FILES, 'context'), root, substitutions, OPTIONS);
  for (const library of LIBRARIES) {
    generateFiles(tree, join(FILES, 'library'), `${root}/${library.layer}`, { ...substitutions, ...library }, OPTIONS);
    generateFiles(tree, join(FILES, library.layer), `${root}/${library.layer}/src`, substitutions, OPTIONS);
  }
  generateFiles(tree, join(FILES, 'client'), 'libs/client/src', substitutions, OPTIONS);
  generateFiles(tree, join(FILES, 'guide'), 'docs/guides', substitutions, OPTIONS);
  generateFiles(tree, join(FILES, 'routes'), ROUTE_SPECS, substitutions, OPTIONS);
}

/** Runs the steps that require the written files: links the new packages with npm, and updates the OpenAPI document. */
function finish(tree: Tree, names: ContextNames): void {
  installPackagesTask(tree, true);
  updateOpenApi(tree);
  console.log(nextSteps(names));
}

export function nextSteps({ context, file }: ContextNames): string {
  return `
The API now serves /v1/${context}.

  Open first   libs/${context}/domain/src/${file}.ts
  Test         npm run jest -- ${context}
  Try          npm start, then in another terminal:
               curl -H "Authorization: Bearer $(cat .data/api-key)" -H 'Content-Type: application/json' \\
                 -d '{"name":"first"}' http://localhost:3000/v1/${context}
  Own          .github/CODEOWNERS names the team @animal-store/${context}, which must exist on GitHub
  Read         docs/adding-a-context.md: fields, errors, commands, lists, events and jobs
`;
}
