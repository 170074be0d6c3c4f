import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type FileChange, type Tree } from '@nx/devkit';
// The tree that `nx g` itself uses; nothing is written unless it is flushed.
import { FsTree } from 'nx/src/generators/tree.js';
import { check, resolveConfig } from 'prettier';
import ts from 'typescript';
import { generateContext, nextSteps } from './context/context.generator.js';
import { generateMigration } from './migration/migration.generator.js';
import { namesOfContext, USED_BY_TEMPLATES } from './names.js';
import { generateUseCase } from './use-case/use-case.generator.js';

const WORKSPACE = fileURLToPath(new URL('../../../', import.meta.url));
const LAYERS = ['domain', 'application', 'infrastructure', 'http', 'testing'];
const MAX_FILES = 45;

let tree: Tree;
/** Generated once per group of specs, because formatting is slow. */
async function useContext(name: string): Promise<void> {
  tree = new FsTree(WORKSPACE, false);
  await generateContext(tree, { name });
}

const textOf = (path: string) => tree.read(path, 'utf-8') ?? '';
const createdPaths = (changes: readonly FileChange[]) => changes.filter(({ type }) => type === 'CREATE').map(({ path }) => path);
const changed = () => tree.listChanges().filter(({ type }) => type === 'UPDATE');
const addedLines = (path: string) => {
  const before = readFileSync(join(WORKSPACE, path), 'utf8').split('\n');
  return textOf(path)
    .split('\n')
    .filter((line) => !before.includes(line));
};

async function expectWellFormed(): Promise<void> {
  for (const { path, content } of tree.listChanges()) {
    const text = content?.toString('utf8') ?? '';
    expect([path, /<%|%>|__/.test(text)]).toEqual([path, false]);
    if (!/\.(?:ts|json|md)$/.test(path)) continue;
    const options = await resolveConfig(join(WORKSPACE, path));
    expect([path, await check(text, { ...options, filepath: path })]).toEqual([path, true]);
    if (!path.endsWith('.ts')) continue;
    const { diagnostics = [] } = ts.transpileModule(text, {
      reportDiagnostics: true,
      compilerOptions: { experimentalDecorators: true, target: ts.ScriptTarget.ES2024 },
    });
    expect(diagnostics.map(({ messageText }) => messageText)).toEqual([]);
  }
}

describe.each([
  ['orders', 'order', 'Orders'],
  ['purchase-orders', 'purchase-order', 'PurchaseOrders'],
])('nx g @animal-store/tools:context %s', (context, singular, Entities) => {
  beforeAll(() => useContext(context));

  it('generates the libraries of a context, its README and its end-to-end spec, formatted, in no other folder', async () => {
    const created = createdPaths(tree.listChanges());
    expect([...new Set(created.map((path) => path.split('/').slice(0, 3).join('/')))].sort()).toEqual(
      ['apps/api-e2e/src', `libs/${context}/README.md`, ...LAYERS.map((layer) => `libs/${context}/${layer}`)].sort(),
    );
    expect(created.length).toBeLessThanOrEqual(MAX_FILES);
    expect(created).toEqual(
      expect.arrayContaining([
        `apps/api-e2e/src/contexts/${context}/${context}.integration.spec.ts`,
        `libs/${context}/domain/src/${singular}.ts`,
        `libs/${context}/http/src/${context}.controller.ts`,
        `libs/${context}/infrastructure/src/${context}.integration.spec.ts`,
        `libs/${context}/testing/src/${context}-contract.ts`,
      ]),
    );
    await expectWellFormed();
  });

  it('tags each library with its layer and the context', () => {
    for (const layer of LAYERS) {
      const { name, nx } = JSON.parse(textOf(`libs/${context}/${layer}/package.json`)) as { name: string; nx: { tags: string[] } };
      expect([name, ...nx.tags]).toEqual([`@animal-store/${context}-${layer}`, `layer:${layer}`, `scope:${context}`]);
    }
  });

  it('adds one line to the app', () => {
    expect(addedLines('apps/api/src/registered-contexts.ts')).toEqual([
      `export { ${Entities}Module } from '@animal-store/${context}-http';`,
    ]);
    expect(
      changed()
        .map(({ path }) => path)
        .filter((path) => /^(?:apps|libs|tools)\//.test(path)),
    ).toEqual(['apps/api/src/registered-contexts.ts', 'apps/api/tsconfig.lib.json']);
  });

  it('adds its lines to the lists of the workspace', () => {
    expect(addedLines('.github/CODEOWNERS').map((line) => line.split(/ +/))).toEqual([
      [`/libs/${context}/`, `@animal-store/${context}`],
      [`/apps/api-e2e/src/contexts/${context}/`, `@animal-store/${context}`],
    ]);
    expect(addedLines('docs/guides/errors.md').filter((line) => line.includes(`${singular.replace('-', '_')}_not_found`))).toHaveLength(1);
    expect(textOf('README.md')).toContain(
      `\n- [\`libs/${context}\`](libs/${context}/README.md): ${context.replaceAll('-', ' ')}\n\n**Platform**`,
    );
    expect(textOf('tsconfig.json')).toContain(`"./libs/${context}/http"`);
  });

  it('prints which file to open, how to run the tests, and which request to send', () => {
    const text = nextSteps(namesOfContext(context));
    expect(text).toContain(` npm test -- -p '${context}-*'\n`);
    expect(text).toContain(` http://localhost:3000/v1/${context}\n`);
    const [, file = ''] = /Open first +(\S+)/.exec(text) ?? [];
    expect(tree.exists(file)).toBe(true);
  });

  it('rejects a context that exists', async () => {
    await expect(generateContext(tree, { name: context })).rejects.toThrow(`libs/${context} already exists`);
  });
});

describe('in a context', () => {
  beforeAll(() => useContext('orders'));

  it('use-case generates a class with its spec, exports it and provides it', async () => {
    await generateUseCase(tree, { name: 'cancel-order', context: 'orders' });
    expect(textOf('libs/orders/application/src/cancel-order.ts')).toContain('export class CancelOrder {');
    expect(textOf('libs/orders/application/src/cancel-order.spec.ts')).toContain('new CancelOrder(');
    expect(textOf('libs/orders/application/src/index.ts')).toContain(`export { CancelOrder } from './cancel-order.js';`);
    const module = textOf('libs/orders/http/src/orders.module.ts');
    expect(module).toContain('provideUseCase(CancelOrder, OrderReader)');
    expect(module).toMatch(/import \{[^}]*CancelOrder[^}]*\} from '@animal-store\/orders-application'/);
    await expectWellFormed();
  });

  it('migration generates a class that is applied last', async () => {
    const first = tree.children('libs/orders/infrastructure/src/migrations')[0]?.slice(0, 13) ?? '';
    await generateMigration(tree, { name: 'add-due-date', context: 'orders' });
    const files = tree.children('libs/orders/infrastructure/src/migrations').toSorted();
    expect(files).toEqual([`${first}-create-orders.ts`, expect.stringMatching(/^[0-9]{13}-add-due-date\.ts$/)]);
    const timestamp = files[1]?.slice(0, 13) ?? '';
    expect(Number(timestamp)).toBeGreaterThan(Number(first));
    const persistence = textOf('libs/orders/infrastructure/src/orders-persistence.ts');
    expect(persistence).toContain(`import { AddDueDate${timestamp} } from './migrations/${timestamp}-add-due-date.js';`);
    expect(persistence).toContain(`migrations: [CreateOrders${first}, AddDueDate${timestamp}],`);
    await expectWellFormed();
  });

  it.each([
    ['no context', { name: 'cancel-order', context: 'shops' }, 'unknown context "shops"; must be one of '],
    ['a name that is not kebab-case', { name: 'CancelOrder', context: 'orders' }, 'must be in kebab-case'],
  ])('both reject %s', async (_what, options, reason) => {
    await expect(generateUseCase(tree, options)).rejects.toThrow(reason);
    await expect(generateMigration(tree, options)).rejects.toThrow(reason);
  });

  it('both reject a name that exists', async () => {
    await expect(generateUseCase(tree, { name: 'get-order', context: 'orders' })).rejects.toThrow('get-order.ts already exists');
    await expect(generateMigration(tree, { name: 'create-orders', context: 'orders' })).rejects.toThrow('create-orders.ts already exists');
  });

  it('use-case names the missing port', async () => {
    await expect(generateUseCase(tree, { name: 'cancel-order', context: 'access', singular: 'api-key' })).rejects.toThrow(
      'libs/access/domain has no port ApiKeyReader',
    );
  });
});

it('a context cannot have a name that the templates declare or import', async () => {
  await useContext('zebras');
  await generateUseCase(tree, { name: 'find-zebra', context: 'zebras' });
  const names = tree
    .listChanges()
    .flatMap(({ path, content }) => (path.endsWith('.ts') ? declaredNames(content?.toString('utf8') ?? '') : []));
  const free = names.filter((name) => /^[A-Za-z]+$/.test(name) && !/zebra/i.test(name) && !USED_BY_TEMPLATES.has(name));
  expect([...new Set(free)].sort()).toEqual([]);
});

function declaredNames(source: string): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    const isDeclaration =
      ts.isVariableDeclaration(node) ||
      ts.isParameter(node) ||
      ts.isBindingElement(node) ||
      ts.isFunctionDeclaration(node) ||
      ts.isClassDeclaration(node) ||
      ts.isInterfaceDeclaration(node) ||
      ts.isTypeAliasDeclaration(node) ||
      ts.isImportSpecifier(node) ||
      ts.isImportClause(node);
    if (isDeclaration && node.name && ts.isIdentifier(node.name)) names.push(node.name.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true));
  return names;
}

describe.each(['context', 'use-case', 'migration'])('the options of %s', (generator) => {
  it('are prompted for if they are missing', () => {
    const { required, properties } = JSON.parse(readFileSync(join(import.meta.dirname, generator, 'schema.json'), 'utf8')) as {
      required: string[];
      properties: Record<string, { 'x-prompt'?: string }>;
    };
    expect(required.length).toBeGreaterThan(0);
    for (const name of required) expect(properties[name]?.['x-prompt']).toMatch(/\?$/);
  });
});
