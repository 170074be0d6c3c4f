import { join } from 'node:path';
import { formatFiles, generateFiles, type Tree } from '@nx/devkit';
import { assertKebabCase, camelCase, namesOfContext, pascalCase } from '../names.ts';
import { addExport, addImport, addToArray, exportsOf } from '../source-edits.ts';
import { assertContext, editFile, readText } from '../tree.ts';

export interface UseCaseOptions {
  readonly name: string;
  readonly context: string;
  readonly singular?: string;
  readonly kind?: keyof typeof PORTS;
}

/** A query reads. A command changes something. */
const PORTS = { query: 'Reader', command: 'Repository' } as const;

/** Generates a plain class over a port of the context, with its spec, its export, and its provider in the Nest module. */
export async function generateUseCase(tree: Tree, { name, context, singular, kind = 'query' }: UseCaseOptions): Promise<() => void> {
  assertKebabCase(name, 'the name');
  assertContext(tree, context);
  const names = namesOfContext(context, singular);
  const UseCase = pascalCase(name);
  const port = `${names.Entity}${PORTS[kind]}`;
  if (!exportsOf(readText(tree, `libs/${context}/domain/src/index.ts`)).includes(port)) {
    throw new Error(`libs/${context}/domain has no port ${port}; a generated use case requires it`);
  }
  const folder = `libs/${context}/application/src`;
  if (tree.exists(`${folder}/${name}.ts`)) throw new Error(`${folder}/${name}.ts already exists`);

  generateFiles(tree, join(import.meta.dirname, 'files', kind), folder, { ...names, name, UseCase, useCase: camelCase(name) });
  editFile(tree, `${folder}/index.ts`, (index) => addExport(index, UseCase, `./${name}.js`));
  editFile(tree, `libs/${context}/http/src/${context}.module.ts`, (module) => {
    const withClass = addImport(module, UseCase, `@animal-store/${context}-application`);
    const withPort = addImport(withClass, port, `@animal-store/${context}-domain`);
    return addToArray(addImport(withPort, 'provideUseCase', '@animal-store/http-kit'), 'providers', `provideUseCase(${UseCase}, ${port})`);
  });
  await formatFiles(tree);
  return () =>
    console.log(`
${UseCase} is exported and provided in libs/${context}/http/src/${context}.module.ts.

  Write        ${folder}/${name}.ts and its spec
  Test         npx nx test ${context}-application
  Call it      in libs/${context}/http/src/${context}.controller.ts, then npx nx openapi api
`);
}
