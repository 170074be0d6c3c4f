import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { FsTree } from 'nx/src/generators/tree.js';
import { generateContext } from './context/context.generator.js';
import { camelCase, namesOfContext, pascalCase, templateIdentifiers } from './names.js';

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
  ...['apps', 'platform', 'tools', 'public', 'events', 'jobs', 'dist', 'bundle', 'coverage'].map(
    (name) => [name, 'app', `${name} is a reserved name of the workspace`] as const,
  ),
  ['information-schema', 'view', 'is a reserved name of the workspace'],
  ['window', 'pane', 'window is reserved in PostgreSQL'],
  ['overlaps', 'app', 'overlaps is reserved in PostgreSQL'],
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

it.each([
  ['error-codes', 'error-code', 'the client already exports ErrorCode'],
  ['routes', 'route', 'the error code route_not_found already exists'],
  ['large-integers', 'large-integer', 'docs/guides/large-integers.md already exists'],
  ['exact-json', 'text-value', 'Generated file already exists'],
])('rejects the name %s, which a shared file has', async (name, singular, reason) => {
  const tree = new FsTree(join(import.meta.dirname, '../../..'), false);
  await expect(generateContext(tree, { name, singular })).rejects.toThrow(reason);
});
