import { IDEMPOTENCY_KEY_LIFETIME_HOURS } from '@animal-store/kernel';
import type { DataSource } from 'typeorm';
import { poolOf } from './data-source.js';
import { IdempotencyKeyEntity } from './idempotency-key.entity.js';
import { forgetKeysStatement, keyTableOf } from './statements.js';

/** Small, so that no deletion holds locks or vacuum back for long. */
const BATCH = 500;

/** Forgets the keys of every context that have lived their time, by the clock of the database, and says how many there were. */
export async function forgetExpiredIdempotencyKeys(dataSource: DataSource): Promise<number> {
  let total = 0;
  for (const metadata of dataSource.entityMetadatas) {
    if (!(typeof metadata.target === 'function' && metadata.target.prototype instanceof IdempotencyKeyEntity)) continue;
    const text = forgetKeysStatement(keyTableOf(metadata));
    let forgotten: number;
    do {
      forgotten = (await poolOf(dataSource).query({ text, values: [IDEMPOTENCY_KEY_LIFETIME_HOURS, BATCH] })).rowCount ?? 0;
      total += forgotten;
    } while (forgotten === BATCH);
  }
  return total;
}
