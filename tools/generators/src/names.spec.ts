import { describe, expect, it } from '@jest/globals';
import { namesOfContext, singularOf } from './names.js';

describe('the names of a context', () => {
  it('are derived from its plural and its singular', () => {
    expect(namesOfContext('purchase-orders')).toEqual({
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

  it('accept an irregular singular', () => {
    expect(namesOfContext('children', 'child')).toMatchObject({ Entities: 'Children', Entity: 'Child' });
  });

  it.each([
    ['orders', 'order'],
    ['categories', 'category'],
    ['boxes', 'box'],
    ['statuses', 'status'],
    ['children', 'child'],
    ['purchase-orders', 'purchase-order'],
    ['adopted-mice', 'adopted-mouse'],
    ['webhooks', 'webhook'],
    ['species', undefined],
    ['stock', undefined],
    ['address', undefined],
    ['status', undefined],
  ])('the singular of %s is %s', (plural, singular) => {
    expect(singularOf(plural)).toBe(singular);
  });

  it.each([
    ['Orders', undefined, 'the name "Orders" must be in kebab-case'],
    ['purchase_orders', undefined, 'must be in kebab-case'],
    ['2nd-orders', undefined, 'must be in kebab-case'],
    ['orders-', undefined, 'must be in kebab-case'],
    ['../orders', undefined, 'must be in kebab-case'],
    ['', undefined, 'must be in kebab-case'],
    [`${'x'.repeat(40)}s`, undefined, 'must have at most 40 characters'],
    ['stock', undefined, 'cannot derive the singular of "stock"'],
    ['stock', 'stock', 'must differ from the plural'],
    ['stock', 'Item', 'the singular "Item" must be in kebab-case'],
    ['apps', 'app', 'apps is a reserved name of the workspace'],
    ['information-schema', 'view', 'is a reserved name of the workspace'],
    ['order', 'item', 'order is a reserved word of SQL'],
    ['pg-orders', undefined, 'pg_orders is a reserved word of SQL'],
    ['classes', undefined, 'class is a reserved word of TypeScript'],
    ['packages', undefined, 'package is a reserved word of TypeScript'],
    ['queries', undefined, 'query is used in the generated code'],
    ['errors', undefined, 'Error is a global name'],
    ['modules', undefined, 'Module is a global name or is used in the generated code'],
    ['idempotency-keys', undefined, 'is a reserved name of the workspace'],
    ['jobs', undefined, 'is a reserved name of the workspace'],
    ['clients', undefined, 'client is used in the generated code'],
    ['new-pets', undefined, 'would conflict with the class names of new entities'],
  ])('%j is rejected (singular %j)', (name, singular, reason) => {
    expect(() => namesOfContext(name, singular)).toThrow(reason);
  });
});
