import type { DataSource } from 'typeorm';
import type { ShardColumns } from './sharding-rules.js';

/** Returns the constraints with which Citus cannot distribute the tables: uniqueness and foreign keys across shards. */
export async function constraintViolations(dataSource: DataSource, shards: ShardColumns): Promise<string[]> {
  const tables = [...shards.keys()];
  const unique = await dataSource.query<{ index: string; table: string; columns: string[] }[]>(
    `SELECT indexrelid::regclass::text AS index, indrelid::regclass::text AS table,
       ARRAY (SELECT attname::text FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY (indkey)) AS columns
     FROM pg_index WHERE (indisunique OR indisexclusion) AND indrelid = ANY ($1::text[]::regclass[]) ORDER BY 1`,
    [tables],
  );
  const references = await dataSource.query<{ name: string; table: string }[]>(
    `SELECT conname AS name, conrelid::regclass::text AS table FROM pg_constraint
     WHERE contype = 'f' AND (conrelid = ANY ($1::text[]::regclass[]) OR confrelid = ANY ($1::text[]::regclass[])) ORDER BY 1`,
    [tables],
  );
  return [
    ...unique
      .filter(({ table, columns }) => !columns.includes(shards.get(table) ?? ''))
      .map(({ index }) => `${index} is unique across shards`),
    ...references.map(({ table, name }) => `${name} of ${table} is a foreign key across shards`),
  ];
}
