import { expect, it } from '@jest/globals';
import { withNullType } from './null-type.js';

const TOY = { $ref: '#/components/schemas/Toy' };
const NULL = { type: 'null' };

it.each([
  [{ type: 'string' }, { type: 'string' }],
  [
    { type: 'string', nullable: true, description: 'x' },
    { type: ['string', 'null'], description: 'x' },
  ],
  [
    { type: 'string', enum: ['a'], nullable: true },
    { type: ['string', 'null'], enum: ['a', null] },
  ],
  [
    { allOf: [TOY], nullable: true, description: 'x' },
    { anyOf: [TOY, NULL], description: 'x' },
  ],
  [{ ...TOY, nullable: true }, { anyOf: [TOY, NULL] }],
  [{ oneOf: [TOY, { type: 'string' }], nullable: true }, { anyOf: [{ oneOf: [TOY, { type: 'string' }] }, NULL] }],
])('%j is %j in OpenAPI 3.1', (schema, expected) => {
  const properties = { toy: { type: 'object', properties: { member: schema } }, toys: [schema] };
  expect(withNullType({ schemas: properties })).toEqual({
    schemas: { toy: { type: 'object', properties: { member: expected } }, toys: [expected] },
  });
});

it('the document of the decorators does not change', () => {
  const schema = { type: 'string', enum: ['a'], nullable: true, since: new Date(0) };
  expect(withNullType(schema)).toEqual({ type: ['string', 'null'], enum: ['a', null], since: new Date(0) });
  expect(schema).toEqual({ type: 'string', enum: ['a'], nullable: true, since: new Date(0) });
});
