import type { QueryRunner } from 'typeorm';

const BATCH_SIZE = 5_000;

export interface Backfill {
  /** `schema.table`. */
  readonly table: string;
  /** The columns of the primary key. */
  readonly key: readonly string[];
  /** The assignments, in SQL. */
  readonly set: string;
  /** The condition of the rows to change, in SQL. Changed rows no longer meet it. */
  readonly where: string;
}

/**
 * Changes rows in batches, in the order of the primary key. Each batch commits, so its locks are short, and a migration that was interrupted
 * continues where it stopped.
 * @throws Error in a transaction: the migration requires `transaction = false`
 */
export async function backfill(queryRunner: QueryRunner, { table, key, set, where }: Backfill, batchSize = BATCH_SIZE): Promise<void> {
  if (queryRunner.isTransactionActive) throw new Error('backfill requires a migration with `transaction = false`');
  const columns = key.join(', ');
  const parameters = key.map((_, index) => `$${String(index + 1)}`).join(', ');
  let last: Readonly<Record<string, unknown>> | undefined;
  do {
    [last] = (await queryRunner.query(
      `WITH batch AS (
         SELECT ${columns} FROM ${table} WHERE (${where}) ${last ? `AND (${columns}) > (${parameters})` : ''}
         ORDER BY ${columns} LIMIT ${String(batchSize)}
       ), changed AS (
         UPDATE ${table} SET ${set} WHERE (${where}) AND (${columns}) IN (SELECT ${columns} FROM batch)
       )
       SELECT ${columns} FROM batch ORDER BY ${key.map((name) => `${name} DESC`).join(', ')} LIMIT 1`,
      last && key.map((name) => last?.[name]),
    )) as (typeof last)[];
  } while (last);
}
