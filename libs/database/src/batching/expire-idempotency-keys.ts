import { IDEMPOTENCY_KEY_LIFETIME_HOURS } from '@animal-store/kernel';
import type { DataSource } from 'typeorm';
import { isKeyTable, keyTableOf } from './idempotency-key.entity.js';

/** Small, so that a deletion does not hold locks or delay vacuum for long. */
const BATCH_SIZE = 500;

/**
 * Deletes the expired keys of every context and returns their number. Uses the database's clock. Run it in one process at a time:
 * two could deadlock on the same keys, and Citus does not support SKIP LOCKED.
 */
export class ExpireIdempotencyKeys {
  constructor(private readonly dataSource: DataSource) {}

  async execute(): Promise<number> {
    let total = 0;
    for (const { name, clientId, key, createdAt } of this.dataSource.entityMetadatas.filter(isKeyTable).map(keyTableOf)) {
      let deleted: number;
      do {
        [, deleted] = await this.dataSource.query<[unknown, number]>(
          `DELETE FROM ${name} WHERE (${clientId}, ${key}) IN (
             SELECT ${clientId}, ${key} FROM ${name}
             WHERE ${createdAt} < now() - make_interval(hours => $1) ORDER BY ${createdAt} LIMIT $2
           )`,
          [IDEMPOTENCY_KEY_LIFETIME_HOURS, BATCH_SIZE],
        );
        total += deleted;
      } while (deleted === BATCH_SIZE);
    }
    return total;
  }
}
