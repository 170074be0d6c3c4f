import type { Database } from '../database.js';
import { isKeyTable } from '../batching/idempotency-keys.js';
import { isSharded } from '../statements/sharding.js';
import { qualifiedName } from '../statements/table.js';

/** A table whose rows Citus distributes over servers. */
export interface DistributedTable {
  /** Quoted for SQL. */
  readonly name: string;
  /** The distribution column. Its value determines the shard of a row. */
  readonly column: string;
}

/** Returns all sharded tables. The distribution column is `key` for tables of idempotency keys and `id` for others. */
export function distributedTables({ entityMetadatas, settings }: Database): DistributedTable[] {
  return entityMetadatas
    .filter((metadata) => isSharded(metadata, settings.persistence))
    .map((metadata) => ({ name: qualifiedName(metadata), column: isKeyTable(metadata) ? 'key' : 'id' }));
}

/** Returns the tables that are not distributed yet; an empty array if `citus` is off, undefined if the extension is missing. */
export async function tablesToDistribute(database: Database): Promise<readonly DistributedTable[] | undefined> {
  if (!database.settings.citus) return [];
  const { pool } = database;
  if ((await pool.query(`SELECT FROM pg_extension WHERE extname = 'citus'`)).rowCount === 0) return undefined;
  const { rows } = await pool.query<DistributedTable>(
    `SELECT name, "column"
     FROM ROWS FROM (jsonb_to_recordset($1) AS (name text, "column" text)) WITH ORDINALITY AS wanted (name, "column", position)
     WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass(name) AND partmethod = 'h')
     ORDER BY position`,
    [JSON.stringify(distributedTables(database))],
  );
  return rows;
}

/** Distributes a table. Moves existing rows and blocks writes in the meantime. */
export async function distribute(database: Database, { name, column }: DistributedTable): Promise<void> {
  await database.transaction(async (manager) => {
    // Citus considers triggers unsafe because they may access other shards. The contexts' triggers only change their own row.
    await manager.query(`SELECT set_config('citus.enable_unsafe_triggers', 'on', true)`);
    await manager.query('SELECT create_distributed_table($1, $2)', [name, column]);
  });
}
