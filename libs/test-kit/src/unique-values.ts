import type { Database } from '@animal-store/database';

/** Parameters: schema and table. */
const FIND_CONSTRAINTS = `
  SELECT relname AS name, indisexclusion AS "isExclusion"
  FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE indrelid = to_regclass(format('%I.%I', $1::text, $2::text)) AND (indisunique OR indisexclusion) AND NOT indisprimary ORDER BY 1`;

/** Returns the unique and exclusion constraints of tables that their entities do not declare, and those that no migration creates. */
export async function undeclaredConstraints({ entityMetadatas, manager }: Database): Promise<string[]> {
  const differences: string[] = [];
  for (const { name: entity, schema = 'public', tableName, uniques, indices, exclusions } of entityMetadatas) {
    const declared = new Set([...uniques, ...exclusions, ...indices.filter(({ isUnique }) => isUnique)].map(({ name }) => name));
    for (const { name, isExclusion } of await manager.query<{ name: string; isExclusion: boolean }[]>(FIND_CONSTRAINTS, [
      schema,
      tableName,
    ]))
      if (!declared.delete(name)) differences.push(`${entity} lacks @${isExclusion ? 'Exclusion' : 'Unique'}('${name}', …)`);
    differences.push(...[...declared].map((name) => `${entity} declares ${name}, which does not exist`));
  }
  return differences;
}
