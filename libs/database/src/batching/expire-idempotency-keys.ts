import { IDEMPOTENCY_KEY_LIFETIME_HOURS } from '@animal-store/kernel';
import type { DataSource } from 'typeorm';
import { isKeyTable, keyTableOf } from './idempotency-key.entity.js';

/** Large enough for 200,000 keys per second, and small enough that a deletion holds its locks for a fraction of a second. */
const BATCH_SIZE = 10_000;

/**
 * Deletes the expired keys of every context and returns their number. Uses the database's clock. Run it in one process at a time:
 * two could deadlock on the same keys, and Citus does not support SKIP LOCKED.
 */
export class ExpireIdempotencyKeys {
  constructor(private readonly dataSource: DataSource) {}

  async execute(): Promise<number> {
    let total = 0;
    for (const { name, createdAt } of this.dataSource.entityMetadatas.filter(isKeyTable).map(keyTableOf)) {
      let deleted: number;
      do {
        [, deleted] = await this.dataSource.query<[unknown, number]>(
          `DELETE FROM ${name} WHERE ${createdAt} <= (SELECT max(${createdAt}) FROM (
             SELECT ${createdAt} FROM ${name} WHERE ${createdAt} < now() - make_interval(hours => $1) ORDER BY ${createdAt} LIMIT $2
           ) AS oldest)`,
          [IDEMPOTENCY_KEY_LIFETIME_HOURS, BATCH_SIZE],
        );
        total += deleted;
      } while (deleted >= BATCH_SIZE);
    }
    return total;
  }
}
