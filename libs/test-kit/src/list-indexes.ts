import { type Database, IdempotencyKeyEntity, type Persistence } from '@animal-store/database';

/** Parameters: schema, table, and the columns of the index. */
const FIND_INDEX = `
  SELECT 'CREATE INDEX ' || definition AS "missing"
  FROM (
    SELECT format('ON %I.%I USING btree (%s)', $1::text, $2::text, string_agg(quote_ident(name), ', ' ORDER BY ordinal)) AS definition
    FROM unnest($3::text[]) WITH ORDINALITY AS given (name, ordinal)
  ) AS required
  WHERE NOT EXISTS (
    SELECT FROM pg_indexes WHERE schemaname = $1 AND tablename = $2 AND strpos(indexdef, definition) > 0 AND indexdef NOT LIKE '% WHERE %'
  )`;

/** Parameters: schema, table and column. Texts of other collations have another order in another database, or than in a JavaScript test. */
const FIND_COLLATION = `
  SELECT format('COLLATE "C" of %I.%I.%I', table_schema, table_name, column_name) AS "missing" FROM information_schema.columns
  WHERE table_schema = $1 AND table_name = $2 AND column_name = $3
    AND data_type IN ('text', 'character varying') AND collation_name IS DISTINCT FROM 'C'`;

/** Returns what the declared lists, and the expiry of idempotency keys, require, but the schema does not have. */
export async function missingForLists(dataSource: Database, { lists = [] }: Persistence): Promise<string[]> {
  const missing = new Set<string>();
  const find = async (text: string, ...values: unknown[]) => {
    for (const row of await dataSource.query<{ missing: string }[]>(text, values)) missing.add(row.missing);
  };
  for (const { entity, filters, orderBy } of lists) {
    const { schema = 'public', tableName, columns } = dataSource.getMetadata(entity);
    const namesOf = (...properties: string[]) => {
      const unknown = properties.find((property) => !columns.some(({ propertyName }) => propertyName === property));
      if (unknown !== undefined) throw new Error(`A list of ${entity.name} names ${unknown}, which is not one of its columns.`);
      return columns.filter(({ propertyName }) => properties.includes(propertyName)).map(({ databaseName }) => databaseName);
    };
    const order = orderBy === undefined ? [] : namesOf(orderBy);
    for (const name of order) await find(FIND_COLLATION, schema, tableName, name);
    for (const combination of filters) await find(FIND_INDEX, schema, tableName, [...namesOf(...combination), ...order, ...namesOf('id')]);
  }
  for (const { schema, tableName, target } of dataSource.entityMetadatas)
    if (typeof target === 'function' && target.prototype instanceof IdempotencyKeyEntity)
      await find(FIND_INDEX, schema, tableName, ['created_at']);
  return [...missing];
}
