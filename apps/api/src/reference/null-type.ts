const NULL = { type: 'null' };

/** Returns the document with the type `null` of OpenAPI 3.1 in place of `nullable: true` of OpenAPI 3.0, which @nestjs/swagger writes. */
export function withNullType<Node>(node: Node): Node {
  if (Array.isArray(node)) return node.map((item: unknown) => withNullType(item)) as Node;
  // Extensions contain instances of classes.
  if (typeof node !== 'object' || node === null || Object.getPrototypeOf(node) !== Object.prototype) return node;
  const members = Object.entries(node).map(([name, member]) => [name, withNullType<unknown>(member)]);
  const schema = Object.fromEntries(members) as Record<string, unknown>;
  return (schema['nullable'] === true ? orNull(schema) : schema) as Node;
}

function orNull({ nullable: _, ...schema }: Readonly<Record<string, unknown>>): object {
  const { type, enum: values, $ref, allOf, ...others } = schema;
  if (typeof type === 'string')
    return { ...schema, type: [type, 'null'], ...(Array.isArray(values) && { enum: [...(values as unknown[]), null] }) };
  // The schema of a class or of a named enumeration, whose description is a sibling.
  const alternatives = Array.isArray(allOf) ? (allOf as object[]) : $ref === undefined ? [] : [{ $ref }];
  return alternatives.length === 1 ? { ...others, anyOf: [...alternatives, NULL] } : { anyOf: [schema, NULL] };
}
