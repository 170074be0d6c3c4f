import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { FsTree } from 'nx/src/generators/tree.js';
import { generateLibraries } from './context/context.generator.js';
import { camelCase, namesOfContext, pascalCase, templateIdentifiers } from './names.js';
import { contentOf } from './testing/generated-code.js';

describe('the names of a context', () => {
  it('are derived from its plural and its singular', () => {
    expect(namesOfContext('purchase-orders', 'purchase-order')).toEqual({
      context: 'purchase-orders',
      schema: 'purchase_orders',
      Entities: 'PurchaseOrders',
      variables: 'purchaseOrders',
      texts: 'purchase orders',
      file: 'purchase-order',
      Entity: 'PurchaseOrder',
      variable: 'purchaseOrder',
      CONSTANT: 'PURCHASE_ORDER',
      code: 'purchase_order',
      text: 'purchase order',
    });
  });

  it.each([
    ['Orders', 'order', 'the name "Orders" must be in kebab-case'],
    ['purchase_orders', 'order', 'must be in kebab-case'],
    ['2nd-orders', 'order', 'must be in kebab-case'],
    ['orders-', 'order', 'must be in kebab-case'],
    ['../orders', 'order', 'must be in kebab-case'],
    ['', 'order', 'must be in kebab-case'],
    [`${'x'.repeat(40)}s`, 'x', 'must have at most 40 characters'],
    ['stock', 'stock', 'must differ from the plural'],
    ['stock', 'Item', 'the singular "Item" must be in kebab-case'],
    ['apps', 'app', 'apps is a reserved name of the workspace'],
    ['information-schema', 'view', 'is a reserved name of the workspace'],
    ['references', 'reference', 'references is a reserved name of the workspace'],
    ['indexes', 'index', 'index is a reserved name of the workspace'],
    ['customers', 'client', 'client is a reserved name of the workspace'],
    ['pg-orders', 'pg-order', 'pg_orders is reserved in PostgreSQL'],
    ['classes', 'class', 'class is a reserved word of TypeScript'],
    ['export', 'part', 'export is a reserved word of TypeScript'],
    ['errors', 'error', 'Error is a global name'],
    ['outcomes', 'outcome', 'would have two meanings in the generated code'],
    ['pet-repository', 'pet', 'PetRepository would have two meanings in the generated code'],
    ['domain-errors', 'domain-error', 'DomainError would have two meanings in the generated code'],
    ['idempotency-keys', 'key', 'is a reserved name of the workspace'],
  ])('%j is rejected (singular %j)', (name, singular, reason) => {
    expect(() => namesOfContext(name, singular)).toThrow(reason);
  });

  const kebabCase = (name: string) => name.replaceAll(/(?<=.)[A-Z]/g, (upper) => `-${upper}`).toLowerCase();
  /** Those that a name can have, such as ApiSchema, but not INPUT. */
  const used = templateIdentifiers({}).plain.filter(
    (name) => !name.includes('_') && [camelCase, pascalCase].some((form) => form(kebabCase(name)) === name),
  );

  it.each(used)('neither the plural nor the singular may be %s, which the templates use', (name) => {
    expect(() => namesOfContext(kebabCase(name), 'zebra')).toThrow('cannot be the name');
    expect(() => namesOfContext('zebras', kebabCase(name))).toThrow('cannot be the name');
  });
});

const WORKSPACE = fileURLToPath(new URL('../../../', import.meta.url));

const again = new FsTree('/nowhere', false);
generateLibraries(again, namesOfContext('pets', 'pet'));
/** The name of a migration begins with the time when it was generated. */
const files = again.listChanges().map((file) => [file.path.replace(/\/[0-9]{13}-/, '/[0-9]*-'), contentOf(file)] as const);

it('the context pets has all files that the generator writes', () => {
  expect(files.length).toBeGreaterThan(30);
  expect(files.map(([path]) => path).filter((path) => globSync(path, { cwd: WORKSPACE }).length === 0)).toEqual([
    // Most guides are about pets.
    'docs/guides/pets.md',
    'apps/api/src/contexts/pets.integration.spec.ts',
  ]);
});

it.each(files.filter(([path]) => /(?:\.json|\.js|\/README\.md)$/.test(path)))(
  'the context pets has %s like a generated one',
  (path, text) => {
    const own = readFileSync(join(WORKSPACE, path), 'utf8');
    if (path.endsWith('.md')) expect(linesOf(text)).toEqual(linesOf(own));
    else if (path.endsWith('.js')) expect(text).toBe(own);
    else expect(JSON.parse(own)).toMatchObject(withReferencesOf(JSON.parse(text) as Config, JSON.parse(own) as Config));
  },
);

const linesOf = (readme: string) => readme.match(/^(?:# .*|- .*|\| `\w+`)/gm);

interface Config {
  readonly references?: readonly { readonly path: string }[];
}

/** Specs that only pets has may need more libraries. */
function withReferencesOf(config: Config, { references }: Config): Config {
  if (config.references) expect(references).toEqual(expect.arrayContaining([...config.references]));
  return { ...config, ...(references && { references }) };
}
