import type { DataSource, EntityMetadata } from 'typeorm';
import { isSharded, persistenceOf, poolOf } from './data-source.js';
import { IdempotencyKeyEntity } from './idempotency-key.entity.js';
import { qualifiedName } from './table.js';

/** A table whose rows Citus distributes over servers. */
export interface DistributedTable {
  /** Quoted for SQL. */
  readonly name: string;
  /** The distribution column. Its value determines the shard of a row. */
  readonly column: string;
}

/** Returns the tables of all `sharded` contexts. The distribution column is `key` for tables of idempotency keys and `id` for others. */
export function distributedTables(dataSource: DataSource): DistributedTable[] {
  const schemas = new Set(persistenceOf(dataSource).flatMap(({ schema, sharded = true }) => (sharded ? [schema] : [])));
  return dataSource.entityMetadatas
    .filter(({ schema = 'public' }) => schemas.has(schema))
    .map((metadata) => ({ name: qualifiedName(metadata), column: isKeyTable(metadata) ? 'key' : 'id' }));
}

/** Returns the tables that are not distributed yet; an empty array if `citus` is off, undefined if the extension is missing. */
export async function tablesToDistribute(dataSource: DataSource): Promise<readonly DistributedTable[] | undefined> {
  if (!isSharded(dataSource)) return [];
  const pool = poolOf(dataSource);
  if ((await pool.query(`SELECT FROM pg_extension WHERE extname = 'citus'`)).rowCount === 0) return undefined;
  const { rows } = await pool.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[]) AS name
     WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass(name) AND partmethod = 'h')`,
    [distributedTables(dataSource).map(({ name }) => name)],
  );
  const found = new Set(rows.map(({ name }) => name));
  return distributedTables(dataSource).filter(({ name }) => found.has(name));
}

/** Distributes a table. Moves existing rows and blocks writes in the meantime. */
export async function distribute(dataSource: DataSource, { name, column }: DistributedTable): Promise<void> {
  await dataSource.transaction(async (manager) => {
    // Citus considers triggers unsafe because they may access other shards. The contexts' triggers only change their own row.
    await manager.query(`SELECT set_config('citus.enable_unsafe_triggers', 'on', true)`);
    await manager.query('SELECT create_distributed_table($1, $2)', [name, column]);
  });
}

function isKeyTable({ target }: EntityMetadata): boolean {
  return typeof target === 'function' && target.prototype instanceof IdempotencyKeyEntity;
}
