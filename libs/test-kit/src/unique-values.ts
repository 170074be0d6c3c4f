import type { Database } from '@animal-store/database';

interface Existing {
  readonly name: string;
  readonly kind: 'Exclusion' | 'Unique' | 'Index';
}

/** Parameters: schema and table. */
const FIND_CONSTRAINTS = `
  SELECT relname AS name,
    CASE WHEN indisexclusion THEN 'Exclusion' WHEN EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid) THEN 'Unique' ELSE 'Index' END AS kind
  FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE indrelid = to_regclass(format('%I.%I', $1::text, $2::text)) AND (indisunique OR indisexclusion) AND NOT indisprimary ORDER BY 1`;

/**
 * Returns the unique and exclusion constraints and unique indexes of tables that their entities do not declare as such, and those
 * that no migration creates.
 */
export async function undeclaredConstraints({ entityMetadatas, manager }: Database): Promise<string[]> {
  const differences: string[] = [];
  for (const { name: entity, schema = 'public', tableName, uniques, indices, exclusions } of entityMetadatas) {
    const declared = new Map<string, Existing['kind']>([
      ...uniques.map(({ name }) => [name, 'Unique'] as const),
      ...exclusions.map(({ name }) => [name, 'Exclusion'] as const),
      ...indices.filter(({ isUnique }) => isUnique).map(({ name }) => [name, 'Index'] as const),
    ]);
    for (const { name, kind } of await manager.query<Existing[]>(FIND_CONSTRAINTS, [schema, tableName])) {
      const rest = kind === 'Index' ? '…, { unique: true }' : '…';
      if (declared.get(name) !== kind) differences.push(`${entity} lacks @${kind}('${name}', ${rest})`);
      declared.delete(name);
    }
    differences.push(...[...declared.keys()].map((name) => `${entity} declares ${name}, which does not exist`));
  }
  return differences;
}
